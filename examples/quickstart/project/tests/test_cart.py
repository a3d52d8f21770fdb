import unittest

from shop import Cart


class CartTest(unittest.TestCase):
    def test_a_total_is_the_sum_of_its_lines(self):
        cart = Cart()
        cart.add("tea", 450, 2)
        cart.add("cup", 1200)
        self.assertEqual(cart.total(), 2100)
