// Opening a board: its question, its address, who opens it, and how long phases last.

import { useState } from "react";
import { useLocation } from "wouter";
import { asked, client, Problem, type Schemas } from "../api/client";
import { useWrite } from "../api/write";
import { useStored } from "../stored";
import { BudgetFields, budgetOf, type Allowance } from "../ui/Budget";
import { Confirm } from "../ui/Confirm";
import { SelectField, TextArea, TextField } from "../ui/Field";
import { keepIdentity, usualName } from "./identity";
import { BOARD_ID_RULE, boardIdFrom, nameProblem, roomName, roomNameHint } from "./names";
import { PHASES, phaseName, type Phase } from "./phases";
import { isSeated, SeatsEditor, seatsOf, type NewSeat } from "./Seats";

type Timed = Exclude<Phase, "archived">;
const TIMED = PHASES.filter((phase): phase is Timed => phase !== "archived");

const UNITS = { minutes: 60, hours: 3_600, days: 86_400 } as const;
type Unit = keyof typeof UNITS;

const DRAFT = "draft.whiteboard";

interface Draft {
  topic: string;
  /** Absent as long as it follows the topic. */
  boardId?: string | undefined;
  /** Absent as long as it is the usual one. */
  openedBy?: string | undefined;
  project: string;
  visibility: Schemas["VisibilityName"];
  deadlines: Partial<Record<Timed, Time>>;
  /** Absent in drafts of earlier versions, as the two below. */
  seats?: NewSeat[];
  isInvited?: boolean | undefined;
  /** For those seats. */
  allowance?: Allowance;
}

const EMPTY: Draft = {
  topic: "",
  project: "",
  visibility: "full",
  deadlines: {},
};

interface Time {
  amount: string;
  unit: Unit;
}

const MOST_SECONDS = 90 * 86_400;

function seconds({ amount, unit }: Time): number {
  return Math.round(Number(amount.replace(",", ".")) * UNITS[unit]);
}

function timeProblem(time: Time): string | undefined {
  if (time.amount.trim() === "") return undefined;
  const wanted = seconds(time);
  if (!(wanted >= 1)) return "Enter a number above 0.";
  return wanted > MOST_SECONDS ? "At most 90 days." : undefined;
}

function request(draft: Draft, boardId: string, openedBy: string): Schemas["NewWhiteboard"] {
  const given = TIMED.flatMap((phase) => {
    const deadline = draft.deadlines[phase];
    if (!deadline || deadline.amount.trim() === "") return [];
    return [[`${phase}Seconds`, seconds(deadline)] as const];
  });
  const seats = draft.seats ?? [];
  const budget = seats.length > 0 ? budgetOf(draft.allowance) : undefined;
  return {
    boardId,
    topic: draft.topic,
    openedBy,
    debateVisibility: draft.visibility,
    ...(draft.project.trim() !== "" && { project: draft.project }),
    ...(given.length > 0 && { deadlines: Object.fromEntries(given) }),
    ...(draft.isInvited && { admission: "invited" }),
    ...(seats.length > 0 && { seats: seatsOf(seats) }),
    ...(budget && { budget }),
  };
}

export function OpenBoard({ topic, onClose }: { topic: string; onClose: () => void }) {
  const [, go] = useLocation();
  const [stored, setDraft] = useStored<Draft>(DRAFT, EMPTY);
  const [sample] = useState(topic);
  const draft = stored.topic === "" && sample !== "" ? { ...stored, topic: sample } : stored;
  const [usual] = useState(usualName);
  const boardId = draft.boardId ?? boardIdFrom(draft.topic);
  const openedBy = draft.openedBy ?? usual;
  const change = (part: Partial<Draft>) => setDraft({ ...draft, ...part });

  const open = useWrite(
    (body: Schemas["NewWhiteboard"], header) =>
      asked(client.POST("/api/whiteboards", { params: { header }, body })),
    {
      place: DRAFT,
      onSent: (opened) => {
        const { boardId: board, agentName: name, role, agentToken: token } = opened;
        keepIdentity(board, { name, role, token });
        setDraft(undefined);
        go(`/whiteboards/${encodeURIComponent(board)}`);
      },
    },
  );
  const problem = open.error instanceof Problem ? open.error : undefined;
  const taken = problem?.code === "taken" ? problem.message : undefined;
  const isReady =
    draft.topic.trim() !== "" &&
    roomName(boardId) !== "" &&
    openedBy !== "" &&
    nameProblem(openedBy) === undefined &&
    isSeated(draft.seats ?? []) &&
    Object.values(draft.deadlines).every((time) => timeProblem(time) === undefined);

  return (
    <Confirm
      title="Open a whiteboard"
      action="Open the whiteboard"
      doing="Opening…"
      isReady={isReady}
      isBusy={open.isPending}
      error={open.error}
      onClose={onClose}
      onSure={() => open.mutate(request(draft, roomName(boardId), openedBy))}
    >
      <TextArea
        label="Topic"
        hint="The question to decide."
        rows={2}
        autoFocus
        value={draft.topic}
        wrong={problem?.field("topic")}
        onChange={(event) => change({ topic: event.target.value })}
      />
      <TextField
        label="Whiteboard ID"
        hint={roomNameHint(boardId, BOARD_ID_RULE)}
        spellCheck={false}
        value={boardId}
        wrong={taken ?? problem?.field("boardId")}
        onChange={(event) => change({ boardId: event.target.value })}
      />
      <div className="two">
        <TextField
          label="Your name here"
          hint="You lead the whiteboard as its facilitator."
          value={openedBy}
          wrong={nameProblem(openedBy) ?? problem?.field("openedBy")}
          onChange={(event) => change({ openedBy: event.target.value })}
        />
        <TextField
          label="Project (optional)"
          hint="Shown in lists."
          value={draft.project}
          wrong={problem?.field("project")}
          onChange={(event) => change({ project: event.target.value })}
        />
      </div>
      <SelectField
        label="Who can join"
        hint={
          draft.isInvited ? "You invite each by a link, once the whiteboard is open." : undefined
        }
        value={draft.isInvited ? "invited" : "open"}
        onChange={(event) => change({ isInvited: event.target.value === "invited" || undefined })}
        options={[
          ["open", "Anyone who can see it"],
          ["invited", "Only those you invite"],
        ]}
      />
      <SelectField
        label="During the debate"
        value={draft.visibility}
        onChange={(event) =>
          change({ visibility: event.target.value as Schemas["VisibilityName"] })
        }
      >
        <option value="full">Everyone sees all challenges and votes</option>
        <option value="own-and-related">
          You see those on your own posts, and where you took part
        </option>
      </SelectField>
      <SeatsEditor
        seats={draft.seats ?? []}
        problem={problem}
        onChange={(seats) => change({ seats })}
      />
      {(draft.seats?.length ?? 0) > 0 && (
        <BudgetFields
          value={draft.allowance}
          wrong={(field) => problem?.field(field)}
          hint="Shared by all models and agents. When it runs out, none of them is asked anymore."
          onChange={(allowance) => change({ allowance })}
        />
      )}
      <Deadlines draft={draft} problem={problem} onChange={change} />
    </Confirm>
  );
}

const NO_TIME: Time = { amount: "", unit: "minutes" };

interface DeadlinesProps {
  draft: Draft;
  problem: Problem | undefined;
  onChange: (part: Partial<Draft>) => void;
}

function Deadlines({ draft, problem, onChange }: DeadlinesProps) {
  const isOpen = Object.values(draft.deadlines).some((one) => one.amount !== "");
  return (
    <details className="fold" open={isOpen || undefined}>
      <summary>Deadlines</summary>
      <p className="muted small">
        When its time is up, a phase ends automatically and the board moves on. A phase without a
        time lasts until someone moves the board on.
      </p>
      <div className="deadlines">
        {TIMED.map((phase) => {
          const set = draft.deadlines[phase] ?? NO_TIME;
          const change = (part: Partial<Time>) =>
            onChange({ deadlines: { ...draft.deadlines, [phase]: { ...set, ...part } } });
          return (
            <div key={phase} className="deadline">
              <TextField
                label={phaseName(phase)}
                inputMode="decimal"
                placeholder="none"
                value={set.amount}
                wrong={timeProblem(set) ?? problem?.field(`deadlines.${phase}Seconds`)}
                onChange={(event) => change({ amount: event.target.value })}
              />
              <SelectField
                label={`Unit of the time for ${phaseName(phase)}`}
                labelUnseen
                value={set.unit}
                onChange={(event) => change({ unit: event.target.value as Unit })}
                options={Object.keys(UNITS).map((unit) => [unit, unit])}
              />
            </div>
          );
        })}
      </div>
    </details>
  );
}
