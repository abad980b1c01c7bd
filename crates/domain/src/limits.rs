//! Every limit of the product, named, in one place.

pub mod told;

/// Advisors that one board may have.
pub const ADVISORS: usize = 16;
/// Answers that one advisor is asked for at once.
pub const TRIES: u32 = 8;
/// How freely a model may be told to choose its words.
pub const TEMPERATURE_MOST: f64 = 2.0;
/// Characters of the name of a role of one's own, and bytes of its glyph.
pub const ROLE_NAME_CHARS: usize = 40;
pub const GLYPH_BYTES: usize = 32;
/// Bytes of the language that a board answers in.
pub const LANGUAGE_BYTES: usize = 60;
/// Bytes of a prompt.
pub const PROMPT_BYTES: usize = 64 * 1024;
/// Bytes of a custom system prompt, an instruction or a person's name.
pub const INSTRUCTION_BYTES: usize = 8 * 1024;
/// Bytes of a person's reply.
pub const REPLY_BYTES: usize = 64 * 1024;
/// Files that may be attached to a prompt, and their bytes, each and together.
pub const CONTEXT_FILES: usize = 16;
pub const CONTEXT_FILE_BYTES: usize = 512 * 1024;
pub const CONTEXT_BYTES: usize = 1024 * 1024;
/// Images that may be attached to a question, and the bytes of their files, each and
/// together.
pub const IMAGES: usize = 8;
pub const IMAGE_BYTES: usize = 4 * 1024 * 1024;
pub const IMAGES_BYTES: usize = 6 * 1024 * 1024;
/// Bytes of a file that is attached as it is; time, memory and stack for reading a PDF.
pub const FILE_BYTES: usize = 8 * 1024 * 1024;
pub const PDF_MS: u64 = 30_000;
pub const PDF_MEMORY_BYTES: u64 = 1024 * 1024 * 1024;
pub const PDF_STACK_BYTES: usize = 64 * 1024 * 1024;
/// Tokens that a model is taken to read for an image.
pub const IMAGE_TOKENS: u64 = 1_500;
/// Bytes of the JSON schema of a verdict.
pub const SCHEMA_BYTES: usize = 64 * 1024;
/// Bytes of what a conversation is known by.
pub const THREAD_KEY_BYTES: usize = 200;
/// Bytes from which an answer goes out packed, and from which that is done apart.
pub const PACKED_BYTES: u64 = 1_024;
pub const PACKED_APART_BYTES: usize = 256 * 1024;
/// Bytes of a title that somebody gives a session.
pub const LABEL_BYTES: usize = 400;
/// Characters of a title, taken from the first line of the prompt.
pub const TITLE_CHARS: usize = 80;
/// Syntheses that one board keeps.
pub const SYNTHESES: usize = 50;
/// Models that may take over from one another in a synthesis.
pub const SYNTHESIZERS: usize = 4;
/// Events of a record that is imported.
pub const IMPORT_EVENTS: usize = 2_000;
/// Times that one advisor may be asked again.
pub const RETRIES_BY_HAND: u32 = 20;
/// Further questions that are put to one board.
pub const FOLLOW_UPS: usize = 20;
/// Tries at one synthesis, by the same model or by another.
pub const SYNTHESIS_TRIES: u32 = 5;
/// Points of one synthesis that are voted on, and the bytes of each.
pub const BALLOT_POINTS: usize = 12;
pub const POINT_BYTES: usize = 1_000;
/// Bytes of the reason for a vote.
pub const VOTE_REASON_BYTES: usize = 1_000;
/// Bytes of one model's name.
pub const MODEL_NAME_BYTES: usize = 200;
/// The model that is set for a tier, with its provider.
pub const TIER_MODEL_CHARS: usize = 300;
/// Bytes of a council's or a whiteboard's name, and of the name of who speaks there.
pub const ROOM_NAME_BYTES: usize = 80;
pub const AGENT_NAME_BYTES: usize = 80;
/// Names that are told when somebody wrote one that means nothing, and names that are
/// compared with it.
pub const NAMES_TOLD: usize = 10;
pub const NAMES_COMPARED: usize = 1_000;

// Whiteboards
/// Agents of one board.
pub const BOARD_AGENTS: usize = 256;
/// Invitations by name of one board.
pub const BOARD_INVITED: usize = 256;
/// How often one token or invitation may be made anew.
pub const RENEWALS: u32 = 1_000;
/// Models and stored agents that sit at one board.
pub const BOARD_SEATS: usize = 12;
/// What a seat may bring in one answer: posts, annotations, votes.
pub const SEAT_POSTS: usize = 4;
pub const SEAT_NOTES: usize = 24;
pub const SEAT_VOTES: usize = 100;
/// Challenges that a seat answers on one board, the first ones.
pub const SEAT_REBUTTALS: usize = 8;
/// Bytes of one answer of a seat, and requests made for it, the first included.
pub const SEAT_ANSWER_BYTES: usize = 256 * 1024;
pub const SEAT_ATTEMPTS: u32 = 3;
/// Posts and annotations that one agent may make on a board. They count per agent:
/// a limit that all share would tell of blind posts.
pub const BOARD_POSTS: u32 = 2_000;
pub const BOARD_ANNOTATIONS: u32 = 10_000;
/// Bytes of a topic, a post's title, a body (of a post, an annotation or a reason),
/// an agent's domain, a project's name.
pub const TOPIC_BYTES: usize = 4 * 1024;
pub const POST_TITLE_BYTES: usize = 300;
pub const BOARD_BODY_BYTES: usize = 64 * 1024;
pub const DOMAIN_BYTES: usize = 300;
pub const PROJECT_BYTES: usize = 200;
/// Files and findings that one post may name, and the bytes of each.
pub const POST_REFS: usize = 64;
pub const POST_REF_BYTES: usize = 500;
/// A phase's deadline: least and most.
pub const PHASE_LEAST_MS: u64 = 1_000;
pub const PHASE_MOST_MS: u64 = 90 * 24 * 3_600_000;
/// Bytes of events that archiving answers with; larger records are exported.
pub const ARCHIVE_BYTES: usize = 1024 * 1024;
/// Conflicts that are looked for in one go.
pub const CONFLICTS: usize = 10_000;

// Councils
/// Members that one council may have.
pub const COUNCIL_MEMBERS: usize = 16;
/// Bytes of a charter, of a member's persona, and of a closing summary.
pub const CHARTER_BYTES: usize = 8 * 1024;
pub const PERSONA_BYTES: usize = 8 * 1024;
pub const COUNCIL_SUMMARY_BYTES: usize = 64 * 1024;
/// Bytes of a project's name, and of the name of who opens or closes.
pub const COUNCIL_LABEL_BYTES: usize = 200;
/// Bytes of a post, and of a member's answer.
pub const POST_BYTES: usize = 64 * 1024;
/// Posts of a page, when none is asked for.
pub const COUNCIL_PAGE: u32 = 100;
/// Posts after which a council takes no more. Answers that are owed then still come.
pub const COUNCIL_POSTS: usize = 100_000;
/// A post's number that no council comes to.
pub const SEQUENCE_MOST: u32 = 1_000_000_000;
/// Names that may post without being members.
pub const COUNCIL_SENDERS: usize = 256;
/// Times that its charter and its members may be changed.
pub const COUNCIL_CHANGES: usize = 1_000;
/// Names of former members that it keeps.
pub const COUNCIL_FORMER: usize = 256;
/// How far one post travels: answers to answers to answers.
pub const RELAY_DEPTH: u8 = 3;
/// Members that one post makes answer.
pub const FAN_OUT: usize = 5;
/// Requests made for one answer in a council, the first included.
pub const COUNCIL_ATTEMPTS: u32 = 3;
/// Bytes of unread posts that a member is shown.
pub const UNREAD_BYTES: usize = 96 * 1024;
/// Posts that a member has read and is shown again, and their bytes.
pub const EARLIER_POSTS: usize = 24;
pub const EARLIER_BYTES: usize = 16 * 1024;
/// What is left of them when there are more. They are left out many at once, because the
/// prompt is another one from there on, for a cache of prompts too.
pub const EARLIER_POSTS_LEFT: usize = 6;
pub const EARLIER_BYTES_LEFT: usize = 8 * 1024;

// Discussions
/// Participants, observers included.
pub const PARTICIPANTS: usize = 16;
/// Rounds when none are asked for, and the most.
pub const ROUNDS: u32 = 5;
pub const ROUNDS_MOST: u32 = 50;
/// Time for a participant's turn, and for a decision or a conclusion.
pub const TURN_MS: u64 = 120_000;
pub const FACILITATOR_MS: u64 = 90_000;
/// Bytes of a turn or a conclusion.
pub const TURN_BYTES: usize = 64 * 1024;
/// Bytes of a discussion's name, and of a seat's.
pub const DISCUSSION_NAME_BYTES: usize = 200;
pub const SEAT_NAME_BYTES: usize = 120;
/// What people may add between the turns.
pub const INTERJECTIONS: usize = 500;
pub const INTERJECTION_BYTES: usize = 16 * 1024;
/// Bytes of a facilitator's question, and of its reasoning.
pub const QUESTION_BYTES: usize = 4 * 1024;
pub const REASONING_BYTES: usize = 8 * 1024;
/// The least room that a transcript gets, however small the window.
pub const TRANSCRIPT_LEAST_BYTES: usize = 1_500;
/// Room that is kept for the end of a prompt, question included, however short it is: so
/// a transcript has the same room in each prompt of a seat, and is fitted alike.
pub const REQUEST_BYTES: usize = 1_024;

// Stored agents
/// Agents that one store keeps, those that ship with the program left out.
pub const AGENTS: usize = 1_000;
/// Characters of a stored agent's name; bytes of its description and its persona.
pub const STORED_NAME_CHARS: usize = 80;
pub const DESCRIPTION_BYTES: usize = 300;
pub const STORED_PERSONA_BYTES: usize = 16 * 1024;
/// Time for one turn of an agent: least and most.
pub const TURN_LEAST_MS: u64 = 5_000;
pub const TURN_MOST_MS: u64 = 3_600_000;
/// Tokens of one answer of an agent: least and most.
pub const OUTPUT_TOKENS_LEAST: u32 = 16;
pub const OUTPUT_TOKENS_MOST: u32 = 65_536;
/// Tokens that an agent may use in one session: least and most.
pub const BUDGET_TOKENS_LEAST: u64 = 1_000;
pub const BUDGET_TOKENS_MOST: u64 = 1_000_000_000_000;
/// Tokens that an answer gets of a budget at least: with less of it left, nobody is asked.
pub const BUDGET_ANSWER_TOKENS: u64 = 256;
/// Tokens of the words that a synthesis is asked for with, and of those around the answer
/// of each seat or about its absence, at most.
pub const SYNTHESIS_FRAME_TOKENS: u64 = 600;
pub const SYNTHESIS_SEAT_TOKENS: u64 = 64;
/// From this share of a budget on, nobody is told to be brief.
pub const BUDGET_ROOMY_TOKENS: u32 = 2_048;
/// Time that a session may be given, least and most, and the most money.
pub const BUDGET_TIME_LEAST_MS: u64 = 1_000;
pub const BUDGET_TIME_MOST_MS: u64 = 90 * 24 * 3_600_000;
pub const BUDGET_COST_MOST: f64 = 1e9;
/// Bytes of the folder that an agent works in; tools that it may use, and the bytes
/// of each one's name.
pub const FOLDER_BYTES: usize = 4 * 1024;
pub const TOOLS: usize = 64;
pub const TOOL_BYTES: usize = 200;

// Saved boards
/// Boards that one store keeps, those that ship with the program left out.
pub const SAVED_BOARDS: usize = 500;
/// Characters of a saved board's title.
pub const BOARD_TITLE_CHARS: usize = 80;
/// Bytes of a board's file. Larger than a board can be, so that whatever is wrong with one
/// is told, and not only that it is too large.
pub const BOARD_FILE_BYTES: usize = 2 * 1024 * 1024;

// Workflows
/// Bytes of a definition, how deep its lists and maps are nested, and its values, aliases
/// included.
pub const WORKFLOW_BYTES: usize = 256 * 1024;
pub const WORKFLOW_DEPTH: usize = 32;
pub const WORKFLOW_NODES: usize = 20_000;
/// Problems of a definition that are told at once.
pub const WORKFLOW_PROBLEMS: usize = 200;
/// Steps of a definition, and those of a run with all items and rounds.
pub const WORKFLOW_STEPS: usize = 200;
pub const EXPANDED_STEPS: usize = 2_000;
/// Items of a `foreach`, and how many of them are under way at once: usual and most.
pub const ITEMS: usize = 256;
pub const PARALLEL: u32 = 4;
pub const PARALLEL_MOST: u32 = 16;
/// Rounds of a `repeat`.
pub const REPEATS: u32 = 50;
/// How deep `foreach` and `repeat` stand in each other, and workflows run each other.
pub const WORKFLOW_BLOCKS: usize = 4;
pub const WORKFLOW_NESTING: usize = 5;
/// Runs that go on from each other, as far back as what one has done is the other's.
pub const FORKS_DEEP: usize = 16;
/// Bytes of a step's output and of a run's inputs, and how deep they are nested: an event
/// that holds them must be readable, and readers of JSON stop at 128 levels.
pub const OUTPUT_BYTES: usize = 256 * 1024;
pub const OUTPUT_DEPTH: usize = 32;
/// Instructions of one template, and texts that it joins.
pub const TEMPLATE_FUEL: u64 = 20_000;
pub const TEMPLATE_JOINS: usize = 16;
/// Signals of one wait, and the longest wait.
pub const WAIT_SIGNALS: usize = 16;
pub const WAIT_MOST_MS: u64 = 90 * 24 * 3_600_000;
/// Signals of one name that are kept, fields of one, and the bytes of these.
pub const SIGNALS_KEPT: usize = 1_000;
pub const SIGNAL_FIELDS: usize = 64;
pub const SIGNAL_BYTES: usize = 16 * 1024;
/// Stored workflows: versions of one that are kept, runs of it that are told, those that
/// may be under way at once, and those that wait for one before them to end.
pub const VERSIONS_KEPT: usize = 50;
pub const RUNS_TOLD: usize = 20;
pub const RUNS_AT_ONCE: usize = 2_000;
pub const RUNS_WAITING: usize = 100;
/// Bytes of what `one_per` comes to; deliveries to a webhook that are remembered, and the
/// bytes of their ids.
pub const ONE_PER_BYTES: usize = 1_024;
pub const DELIVERIES_KEPT: usize = 1_000;
pub const DELIVERY_ID_BYTES: usize = 200;
/// How late a time of a trigger may be noticed and still count as kept.
pub const CRON_GRACE_MS: u64 = 60_000;
/// The pause before signals are listened for again when that has failed: the first, which
/// doubles each time, and the longest.
pub const LISTEN_PAUSE_MS: u64 = 1_000;
pub const LISTEN_PAUSE_MOST_MS: u64 = 3_600_000;
/// People who may be asked for one approval.
pub const APPROVERS: usize = 16;
/// Bytes of a whiteboard's texts that a step or a seat is told, and of a post that a
/// signal carries.
pub const BOARD_TOLD_BYTES: usize = 128 * 1024;
pub const SIGNAL_TEXT_BYTES: usize = 2 * 1024;
/// Conflicts that a step is told of; it is told how many there are.
pub const CONFLICTS_TOLD: usize = 500;
/// How far the clock of whoever delivers to a webhook may be off.
pub const HOOK_AGE_MS: u64 = 300_000;
/// Runs that are looked through for those that wait for a signal.
pub const SIGNAL_RUNS: u32 = 1_000;
/// Further attempts at one step, and the pause before each unless it is given.
pub const STEP_RETRIES: u32 = 10;
pub const STEP_PAUSE_MS: u64 = 1_000;
/// Cases of a file, answers in a list, what may happen in one case, and how much that does
/// not hold is told of it.
pub const CASES: usize = 100;
pub const CASE_REPLIES: usize = 2_000;
pub const CASE_FAULTS: usize = 30;
pub const REHEARSAL_MOVES: usize = 50_000;
/// Time for all of `finally`.
pub const FINALLY_MS: u64 = 600_000;
/// Bytes of what a step sends to a server and of what it gets back, the time for a name to
/// be found and for a connection, and for all of it.
pub const HTTP_BYTES: usize = 256 * 1024;
pub const HTTP_CONNECT_MS: u64 = 10_000;
pub const HTTP_MS: u64 = 120_000;
/// Bytes of a file that a step writes, and of its path, and how deep it lies below the
/// folder that is allowed.
pub const WRITTEN_BYTES: usize = OUTPUT_BYTES;
pub const WRITTEN_PATH_BYTES: usize = 4 * 1024;
pub const WRITTEN_DEPTH: usize = 32;

/// Bytes of the words that say why a call failed, or why somebody was not heard.
pub const FAILURE_BYTES: usize = 32 * 1024;
/// Bytes that one model may answer before its answer is cut off.
pub const ANSWER_BYTES: usize = 1024 * 1024;
/// Bytes of one line or frame on a provider's wire.
pub const WIRE_LINE_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a provider's error body that are read.
pub const ERROR_BODY_BYTES: usize = 16 * 1024;
/// Parts of a message that a provider with a cache of prompts is told of.
pub const CACHE_PARTS: usize = 256;
/// Tokens that an answer may have, unless a room asks for another number.
pub const ANSWER_TOKENS: u32 = 8192;
/// Bytes of a model's thinking that are kept beside its answer. They do not count as
/// answer.
pub const THINKING_BYTES: usize = 1024 * 1024;
/// Tokens that a model is taken to hold, prompt and answer together, where the
/// configuration does not say; and what Ollama holds unless it is told otherwise.
pub const WINDOW_TOKENS: u32 = 128_000;
pub const OLLAMA_WINDOW_TOKENS: u32 = 4_096;

/// Tokens of a window that may be true, least and most; models of which something is
/// known, by provider or by an imported list, and bytes of such a list.
pub const WINDOW_LEAST_TOKENS: u32 = 256;
pub const WINDOW_MOST_TOKENS: u32 = 100_000_000;
pub const MODELS_KNOWN: usize = 20_000;
pub const PRICE_LIST_BYTES: usize = 16 * 1024 * 1024;
/// Prices that a session notes, and bytes of their currency.
pub const NOTED_PRICES: usize = 256;
pub const CURRENCY_BYTES: usize = 8;

/// Time for a connection to a provider.
pub const CONNECT_MS: u64 = 10_000;
/// Time to the first piece of an answer: a local model may have to be loaded.
pub const FIRST_PIECE_MS: u64 = 180_000;
/// Silence in the middle of an answer.
pub const IDLE_MS: u64 = 60_000;
/// A whole answer.
pub const ANSWER_MS: u64 = 600_000;
/// Time to list a provider's models.
pub const CATALOG_MS: u64 = 5_000;
/// How long whoever lists models waits for what is asked for beside their lists.
pub const LEARN_MS: u64 = 1_000;
/// How long a list of models is believed.
pub const CATALOG_FRESH_MS: u64 = 30_000;

/// Requests made for one call, the first included.
pub const ATTEMPTS: u32 = 4;
/// First pause between two requests for one call; it doubles each time.
pub const RETRY_PAUSE_MS: u64 = 500;
/// How often an errand is run again that needs what may be there in a moment: for a quarter
/// of a minute, with the pauses between.
pub const ERRAND_AGAIN: u32 = 7;
/// Longest pause that we wait when a provider asks for one.
pub const RETRY_AFTER_MS: u64 = 60_000;

/// Quorum's grace time when none is given, and the longest one.
pub const GRACE_MS: u64 = 20_000;
pub const GRACE_MOST_MS: u64 = 3_600_000;
/// Time that a person may be given for a reply: least and most.
pub const REPLY_LEAST_MS: u64 = 1_000;
pub const REPLY_MOST_MS: u64 = 30 * 24 * 3_600_000;

/// Tokens are gathered for a millisecond for every so many calls that run, in whole steps,
/// for this long at most, and up to this size.
pub const GATHER_CALLS_PER_MS: u64 = 10;
pub const GATHER_STEP_MS: u64 = 5;
pub const GATHER_MOST_MS: u64 = 50;
pub const DELTA_BYTES: usize = 4 * 1024;
/// A late reader gets the text so far in pieces of about this size.
pub const SO_FAR_BYTES: usize = 16 * 1024;
/// Frames that a live reader may fall behind before it is resynced.
pub const LIVE_FRAMES: usize = 256;
/// The same for a reader of all sessions.
pub const LIVE_FRAMES_ALL: usize = 4096;
/// Partial text is saved this often.
pub const DRAFT_MS: u64 = 3_000;

/// Views of sessions that are kept as they were sent, and how long each may be.
pub const KEPT_VIEWS: usize = 64;
pub const KEPT_VIEW_BYTES: usize = 256 * 1024;

/// Sessions that may have calls under way at once.
pub const SESSIONS: usize = 4_096;
/// Names of sessions that are kept in memory with their ids.
pub const NAMES_KNOWN: usize = 4_096;
/// Sessions that are kept in memory although nobody uses them just now.
pub const IDLE_SESSIONS: usize = 64;
/// Events of such a session that are kept, for whoever asks what it has just written.
pub const IDLE_EVENTS: usize = 4;
/// Writes that may wait for the store, and those that one commit gathers.
pub const WRITES_WAITING: usize = 8_192;
pub const WRITES_GATHERED: usize = 256;
/// Sessions from which the usual times of models are taken, and how long those are
/// believed.
pub const MEASURED_SESSIONS: u32 = 24;
pub const MEASURED_FRESH_MS: u64 = 30_000;
/// Commands of one session that are decided and written together.
pub const COMMANDS_GATHERED: usize = 256;
/// Bytes of an event up to which readers of all sessions are told it at once; a longer
/// one is read by each when it comes to it.
pub const NEWS_BYTES: usize = 4_096;
/// How often the order over all sessions is read where others write too and nothing is
/// heard of them.
pub const NEWS_MS: u64 = 1_000;
/// Commands that may wait for one session.
pub const COMMANDS_WAITING: usize = 4_096;
/// Events that one command of an earlier version made at most, as far as an answer to it
/// is read again.
pub const EVENTS_OF_ONE: u64 = 64;
/// How long a node lives for others after it was last heard of, how much earlier it
/// stops by itself, and how often it is heard of.
pub const LEASE_MS: u64 = 10_000;
pub const LEASE_MARGIN_MS: u64 = 2_000;
pub const BEAT_MS: u64 = 3_000;
/// How long a node that ends waits for a store that is silent.
pub const LAST_WORDS_MS: u64 = 3_000;
/// How long a way to another node that has ended rests before it is tried again, and how
/// long the word is good by which a node proves to another that it is one.
pub const RELAY_PAUSE_MS: u64 = 200;
pub const NODE_PROOF_MS: i64 = 60_000;
/// A lease that has less left is of a node that has missed a beat, and may be gone.
pub const LEASE_DOUBTED_MS: u64 = LEASE_MS - 2 * BEAT_MS;
/// Sessions that a look round finds at a time; that a node takes over at a time, so that
/// others get their share; and that it takes up beside each other.
pub const WAITING: u32 = 1_024;
pub const TAKEN_OVER: usize = 16;
pub const TAKEN_UP: usize = 4;
/// Times that a command is decided again because another writer was first.
pub const DECISIONS: u32 = 16;
/// Days that an idempotency key is remembered at least, and how many of the newest are
/// remembered however old they are: a clock that is wrong must not take them.
pub const IDEMPOTENCY_DAYS: i64 = 7;
pub const IDEMPOTENCY_KEPT: u32 = 10_000;
/// Events after which old keys are looked for, and how many go at once.
pub const IDEMPOTENCY_SWEEP_EVENTS: u64 = 1_000;
pub const IDEMPOTENCY_SWEPT: u32 = 2_000;
/// How long the answer to whether the store is well holds good, and how long it may
/// take; bytes that must be left on its disk.
pub const READY_FRESH_MS: u64 = 1_000;
pub const READY_MS: u64 = 5_000;
pub const DISK_LEAST_BYTES: u64 = 16 * 1024 * 1024;
/// How long a deadline may be off after the clock was set or the machine suspended.
pub const CLOCK_LOOK_MS: u64 = 5_000;
/// Things that are named when a store is checked.
pub const DAMAGE_TOLD: usize = 100;
/// Bytes of an idempotency key.
pub const IDEMPOTENCY_KEY_BYTES: usize = 200;

/// Rows of a page: default and most.
pub const PAGE: u32 = 50;
pub const PAGE_MOST: u32 = 200;
/// Rows of each list of the overview.
pub const OVERVIEW: u32 = 8;
/// Of a line that says in a list what came of a session.
pub const FACT_CHARS: usize = 160;
/// Messages of a discussion that are told with it.
pub const RECENT_MESSAGES: usize = 50;
/// Events read from the log in one go.
pub const EVENTS_PAGE: u32 = 500;
/// The same for a live reader, who holds them until they are sent.
pub const READER_PAGE: u32 = 8;

/// Wrong fields that an error names, and the characters of each field and its problem.
pub const WRONG_FIELDS: usize = 32;
pub const WRONG_FIELD_CHARS: usize = 200;
pub const WRONG_PROBLEM_CHARS: usize = 1_000;
/// Bytes of a request body, and of one whose sender has not shown a token.
pub const BODY_BYTES: usize = 12 * 1024 * 1024;
pub const STRANGER_BODY_BYTES: usize = SOCKET_BYTES;
/// Time for a body: for its first bytes, for so many more a second, and for all of it.
pub const BODY_FIRST_MS: u64 = 10_000;
pub const BODY_BYTES_PER_SECOND: u64 = 8 * 1024;
pub const BODY_MS: u64 = 120_000;
/// Bytes of request headers, their number, and their time. A connection on which
/// nothing is asked for ends after that time too.
pub const HEADER_BYTES: usize = 32 * 1024;
pub const HEADERS: usize = 64;
pub const HEADER_MS: u64 = 10_000;
/// Connections at once unless set otherwise, and the least that may be set.
pub const CONNECTIONS: usize = 16_384;
pub const CONNECTIONS_LEAST: usize = 16;
/// The most places of any kind that may be set.
pub const PLACES_MOST: usize = 1_000_000;
/// Traces: spans that wait for the collector, that go to it at once and after what pause,
/// how long it may take to answer, and how long a server that ends waits for it.
pub const SPANS_WAITING: usize = 4_096;
pub const SPANS_AT_ONCE: usize = 512;
pub const SPANS_PAUSE_MS: u64 = 1_000;
pub const SPANS_MS: u64 = 10_000;
pub const SPANS_LAST_MS: u64 = 2_000;
/// How long a server that was told to end may be set to go on answering.
pub const DRAIN_MOST_SECONDS: usize = 3_600;
/// Of all places, the part that callers without a token may hold, and the part that
/// is kept for newcomers, who have to get in before they can show a token; and how
/// many that are at most.
pub const STRANGERS_PART: usize = 4;
pub const STRANGERS: usize = 2_048;
pub const NEWCOMERS_PART: usize = 16;
pub const NEWCOMERS: usize = 256;
/// Files of this process that are kept for other things than connections, and the part
/// of all that are kept where that is fewer.
pub const FILES_KEPT: usize = 512;
pub const FILES_KEPT_PART: usize = 4;
/// Wrong tokens that may be typed in a row at one address, and the time after which
/// there is one more.
pub const WRONG_TOKENS: u32 = 10;
pub const WRONG_TOKEN_MS: u64 = 6_000;
/// The same for all addresses together, and the longest that anybody then waits for a
/// token to be compared.
pub const WRONG_TOKENS_ALL: u32 = 1_000;
pub const WRONG_TOKEN_ALL_MS: u64 = 60;
pub const WRONG_TOKEN_WAIT_MS: u64 = 5_000;
/// Addresses whose wrong tokens are remembered.
pub const WRONG_TOKEN_ADDRESSES: usize = 4_096;
/// How long a browser keeps the cookie that it got for a token.
pub const COOKIE_SECONDS: u64 = 90 * 24 * 3_600;
/// A request that waits for a session: default and most.
pub const WAIT_SECONDS: u32 = 30;
pub const WAIT_MOST_SECONDS: u32 = 600;
/// MCP: sessions over HTTP unless set otherwise, how long one may be idle where places
/// are not short, and agents that one holds.
pub const MCP_SESSIONS: usize = 1_024;
pub const MCP_IDLE_MS: u64 = 3_600_000;
pub const MCP_AGENTS: usize = 256;
/// The time of `session_wait` when none is given stays below the 60 s that most
/// clients give a call; a sign of life is sent once a slice.
pub const MCP_WAIT_SECONDS: u32 = 50;
pub const MCP_SLICE_SECONDS: u32 = 10;
/// Bytes of a growing answer that a terminal shows while it grows, and characters of
/// a line that are laid out at once.
pub const LIVE_BYTES: usize = 32 * 1024;
pub const LAID_OUT_CHARS: usize = 4 * 1024;
/// Columns of a table that is put in order, and how wide it may be.
pub const TABLE_COLUMNS: usize = 16;
pub const TABLE_WIDTH: usize = 100;
/// How long a request may stay silent before we look whether the server lives, how
/// often we look again, and how long it may take to show that it does.
pub const SILENCE_MS: u64 = 2_000;
pub const LOOK_AGAIN_MS: u64 = 20_000;
pub const LIFE_SIGN_MS: u64 = 8_000;
/// Bytes of a provider's name.
pub const PROVIDER_NAME_BYTES: usize = 64;
/// Bytes of a file of settings.
pub const CONFIGURATION_BYTES: u64 = 256 * 1024;
/// Bytes of a text in an MCP answer; the rest is asked for. A model reads all of it, and
/// clients cut off what is much longer.
pub const MCP_TEXT_BYTES: usize = 24 * 1024;
/// How long a request is repeated while the holder of a data folder changes, and
/// the pause in between.
pub const HANDOVER_MS: u64 = 15_000;
pub const HANDOVER_PAUSE_MS: u64 = 200;
/// Socket.IO: clients at once unless set otherwise, how long one may take to say who it
/// is, bytes of what one says at once, and discussions that one may name.
pub const SOCKETS: usize = 1_024;
pub const SOCKET_CONNECT_MS: u64 = 10_000;
pub const SOCKET_BYTES: usize = 64 * 1024;
pub const SOCKET_TABLES: usize = 256;
/// Seconds for which a browser may remember that a page of elsewhere is let in.
pub const ORIGIN_SECONDS: u32 = 600;
/// Commands of one client that may wait, and packets that may wait for it to read. A
/// client whose packets fill this when it should show that it lives is disconnected.
pub const SOCKET_COMMANDS: usize = 16;
pub const SOCKET_PACKETS: usize = 64;
/// How long we wait before we look again whether such a client has read.
pub const SOCKET_PAUSE_MS: u64 = 50;
/// Events that are kept in the words of Socket.IO, for all clients together.
pub const SOCKET_NEWS: usize = 256;
/// Time in which a client must take at least something of what is sent to it. Readers
/// of event streams may pause.
pub const STALL_MS: u64 = 30_000;
/// A comment is sent to silent event streams this often.
pub const KEEP_ALIVE_MS: u64 = 15_000;

/// A command-line agent: its whole run, and what it may print.
pub const COMMAND_MS: u64 = 600_000;
pub const COMMAND_STDERR_BYTES: usize = 16 * 1024;

/// Models inside this process: answers that run at once, beginnings that are kept for further
/// ones, and the memory that all of them may take together.
pub const LOCAL_SEQUENCES: usize = 6;
pub const LOCAL_KEPT: usize = 10;
pub const LOCAL_MEMORY_BYTES: u64 = 4 << 30;
pub const LOCAL_MEMORY_LEAST_BYTES: u64 = 256 << 20;
/// What one token takes of it where the file does not say.
pub const LOCAL_TOKEN_BYTES: u64 = 128 << 10;
/// Tokens that one may see and say, at most and at least.
pub const LOCAL_WINDOW_TOKENS: usize = 32_768;
pub const LOCAL_LEAST_TOKENS: usize = 4_096;
pub const LOCAL_ANSWER_TOKENS: usize = 1_024;
/// Of an answer that has to have a shape, which bounds it by itself.
pub const LOCAL_SHAPED_TOKENS: usize = 4_096;
/// A small model loses the thread in longer answers.
pub const SMALL_ANSWER_TOKENS: usize = 320;
/// Bytes of a provider's key, and models that are pulled at once.
pub const KEY_BYTES: usize = 4_096;
pub const PULLS: usize = 3;
/// Further tokens for a model that thinks aloud and cannot be told not to.
pub const LOCAL_THINKING_TOKENS: usize = 2_048;
