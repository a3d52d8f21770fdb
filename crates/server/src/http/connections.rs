//! Connections: taken up to a number, given up when they say nothing, brought to an end when the server stops.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::Frame;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::StopSignals;

/// More wait until one of these ends.
const MOST_CONNECTIONS: usize = 512;
/// For the head of a request to arrive.
const HEAD_WITHIN: Duration = Duration::from_secs(30);
/// For requests under way to be answered once the server stops.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// Until the next try, where the system has no room for another connection.
const NO_ROOM: Duration = Duration::from_millis(50);

/// Serves until a stop signal. Requests under way are then answered, until `LAST_ANSWERS` is over or a second signal
/// comes.
pub(super) async fn serve(listener: TcpListener, router: Router, mut signals: StopSignals, stop: watch::Sender<bool>) {
    let open = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    tokio::select! {
        () = signals.told_to_stop() => {}
        () = take_up(&listener, &router, &open, &room) => {}
    }
    drop(listener);
    let _ = stop.send(true);
    tokio::select! {
        _ = timeout(LAST_ANSWERS, open.shutdown()) => {}
        () = signals.told_to_stop() => {}
    }
}

async fn take_up(listener: &TcpListener, router: &Router, open: &GracefulShutdown, room: &Arc<Semaphore>) {
    // The semaphore is never closed.
    while let Ok(place) = Arc::clone(room).acquire_owned().await {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                sleep(NO_ROOM).await;
                continue;
            }
        };
        // Answers are small, and the client waits for them.
        let _ = stream.set_nodelay(true);
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
        let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
        let connection = open.watch(connection);
        tokio::spawn(async move {
            // A client that has gone is no failure.
            let _ = connection.await;
            drop(place);
        });
    }
}

/// Whether the server stops.
#[derive(Clone)]
pub(super) struct StopNotice(watch::Receiver<bool>);

pub(super) fn stop() -> (watch::Sender<bool>, StopNotice) {
    let (stop, stopping) = watch::channel(false);
    (stop, StopNotice(stopping))
}

impl StopNotice {
    /// An answer that goes on for ever ends when the server stops.
    pub(super) fn ends(&self, body: Body) -> Body {
        let mut stopping = self.0.clone();
        let stopped = Box::pin(async move {
            let _ = stopping.wait_for(|stopping| *stopping).await;
        });
        Body::new(StoppableBody { body, stopped })
    }
}

struct StoppableBody {
    body: Body,
    stopped: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl HttpBody for StoppableBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.stopped.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => Pin::new(&mut self.body).poll_frame(context),
        }
    }
}
