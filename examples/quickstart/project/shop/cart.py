"""A cart, with prices in cents."""


class Cart:
    def __init__(self):
        self.lines = []

    def add(self, name, cents, count=1):
        self.lines.append((name, cents, count))

    def total(self):
        return sum(cents * count for _, cents, count in self.lines)
