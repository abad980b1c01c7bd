//! Workflows whose runs clients begin. Every post that one makes has words of its own, so
//! that a post that was made twice shows.

/// Posts for each of several at a time, and in rounds that somebody has to approve.
const POSTS: &str = r#"
name: posts
steps:
  open: { council.open: { name: "p-{{ run.short }}", charter: "Tea?" }, retry: { times: 3, wait: 1s } }
  each:
    foreach: { in: [a, b, c], as: who, parallel: 2, on_failure: continue }
    steps:
      say:
        council.post: { council: "{{ steps.open.council }}", as: "{{ who }}", body: "{{ run.id }} {{ who }}" }
        retry: { times: 2, wait: 1s }
        timeout: 20s
  rounds:
    needs: { each: any }
    repeat: { until: "{{ round.agree.decision == 'approved' }}", max: 3, at_max: go_on }
    steps:
      tell:
        council.post: { council: "{{ steps.open.council }}", as: x, body: "{{ run.id }} round {{ round.number }}" }
        retry: { times: 2, wait: 1s }
      agree: { approve: { who: [eve, ben], deadline: 10s, at_deadline: approve }, needs: [tell] }
  ask: { council.post: { council: "{{ steps.open.council }}", as: y, body: "{{ run.id }} @ann" }, needs: { rounds: any } }
  heard:
    wait: { any: [ { signal: council-posted, council: "{{ steps.open.council }}", sender: ann } ], timeout: 30s }
    needs: [ask]
  close: { council.close: { council: "{{ steps.open.council }}" }, needs: { heard: any } }
"#;

/// Opens sessions and waits for them.
const SESSIONS: &str = r#"
name: sessions
steps:
  board: { boardroom: { prompt: "Which one?" }, retry: { times: 1, wait: 1s }, timeout: 40s, on_failure: continue }
  talk: { discussion: { topic: "Tea?" }, deadline: 60s, on_failure: continue }
  ask: { ask: { prompt: "Which one?" }, retry: { times: 2, wait: 1s }, on_failure: continue }
  rest: { sleep: 3s }
  kept: { boardroom: { prompt: "Another?", keep: true }, needs: { rest: any }, on_failure: continue }
finally:
  open: { council.open: { name: "f-{{ run.short }}", charter: "Tea?", keep: true }, retry: { times: 3, wait: 1s } }
  say: { council.post: { council: "{{ steps.open.council }}", as: z, body: "{{ run.id }} {{ run.status }}" } }
"#;

/// A whiteboard that a run leads.
const BOARD: &str = r#"
name: board
steps:
  open: { whiteboard.open: { board_id: "w-{{ run.short }}", topic: "Tea?" }, retry: { times: 3, wait: 1s } }
  seats:
    foreach: { in: [a, b], as: who, parallel: 2 }
    steps:
      seat: { whiteboard.register: { board: "{{ steps.open.board }}", agent: "{{ who }}" }, retry: { times: 2, wait: 1s } }
      post:
        whiteboard.post: { board: "{{ steps.open.board }}", as: "{{ who }}", title: "{{ who }}", body: "{{ run.id }} {{ who }}" }
        retry: { times: 2, wait: 1s }
        needs: [seat]
  read: { whiteboard.transition: { board: "{{ steps.open.board }}", to: read }, needs: { seats: any }, retry: { times: 2, wait: 1s } }
  go: { wait: { any: [ { signal: go, which: 1 } ], timeout: 15s }, needs: { read: any } }
  more:
    needs: [go]
    repeat: { until: "{{ round.number >= 2 }}", max: 2 }
    steps:
      signal: { wait: { all: [ { signal: go }, { signal: board-transitioned, board: "{{ steps.open.board }}", phase: read } ] } }
"#;

/// Runs another one.
const PARENT: &str = r#"
name: parent
steps:
  child: { workflow: { name: posts }, retry: { times: 1, wait: 1s }, deadline: 90s, on_failure: continue }
  other: { workflow: { name: sessions }, on_failure: continue, timeout: 50s }
"#;

pub const ALL: [&str; 4] = [POSTS, SESSIONS, BOARD, PARENT];

pub fn called(name: &str) -> &'static str {
    match name {
        "posts" => POSTS,
        "sessions" => SESSIONS,
        _ => BOARD,
    }
}
