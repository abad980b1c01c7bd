// The question, the board in one line, and the button. What is rarely changed is folded away.

import "./convene.css";
import { useEffect, useId, useRef, useState } from "react";
import { useLocation } from "wouter";
import { Problem } from "../api/client";
import {
  seatedInTurn,
  useBoardPresets,
  useBoards,
  useLimits,
  useModels,
  useTiers,
  type Model,
} from "../api/known";
import { forgetSent } from "../api/write";
import { remember, remembered, useStored } from "../stored";
import { AttachButton, Attached, useAttachments } from "../ui/Attachments";
import { budgetOf } from "../ui/Budget";
import { Button } from "../ui/Button";
import { Loading } from "../ui/Empty";
import { GrowingArea } from "../ui/Field";
import type { AttachedFile } from "../ui/files";
import { Icon } from "../ui/icons";
import { isSending } from "../ui/keys";
import { useNarrow } from "../ui/narrow";
import { Notice, Wrong } from "../ui/Notice";
import type { Begun } from "./again";
import type { Presets } from "./board";
import { BoardChoice } from "./BoardChoice";
import { BoardEditor } from "./BoardEditor";
import { useConvene } from "./commands";
import { defaults, setupBy } from "./defaults";
import { Foreseen } from "./Foreseen";
import { NoModels } from "./NoModels";
import { SaveBoard } from "./SaveBoard";
import { request, settled, setupOf, type SavedBoard, type Setup } from "./setup";
import { SetupLine } from "./SetupLine";

const LAST_BOARD = "board";
const DRAFT = "board.draft";

interface Props {
  /** The question to begin with, in place of the one that was being written. */
  prompt?: string;
  /** A preset board to begin with, in place of the usual one. */
  board?: string;
  /** A board whose question and seats to begin with. */
  again?: Begun | undefined;
  autoFocus?: boolean;
}

export function ConveneForm(props: Props) {
  const presets = useBoardPresets();
  const boards = useBoards();
  const models = useModels();
  for (const { error, refetch } of [presets, boards]) {
    if (error) return <Wrong error={error} onRetry={() => void refetch()} />;
  }
  if (!presets.data || !boards.data || models.isPending)
    return <Loading what="Looking for models" />;
  return (
    <>
      {models.error ? (
        <Wrong error={models.error} onRetry={() => void models.refetch()} />
      ) : (
        models.data?.length === 0 && <NoModels />
      )}
      <Form {...props} presets={presets.data} boards={boards.data} models={models.data ?? []} />
    </>
  );
}

const NO_SETUP = setupOf([]);

function firstSetup(boards: readonly SavedBoard[], board: string | undefined): Setup {
  const usual = defaults();
  const named = (name: string | undefined) => boards.find((one) => one.name === name);
  const chosen = named(board) ?? named(usual.board);
  if (chosen) return setupBy(usual, chosen);
  const last = remembered<Setup | undefined>(LAST_BOARD, undefined, NO_SETUP);
  if (last) return budgetOf(last.allowance) ? last : { ...last, allowance: usual.allowance };
  return boards[0] ? setupBy(usual, boards[0]) : setupOf(["generalist"]);
}

function Form({
  prompt: given,
  board,
  again,
  autoFocus = false,
  presets,
  boards,
  models,
}: Props & { presets: Presets; boards: readonly SavedBoard[]; models: readonly Model[] }) {
  const [, go] = useLocation();
  const [draft, setDraft] = useStored(DRAFT, "");
  const [prompt, setPrompt] = useState(given ?? draft);
  // What the address asks for begins a new question, and keeps the one that was being written.
  const [former, setFormer] = useState(() =>
    given !== undefined && draft.trim() !== "" && draft !== given ? draft : undefined,
  );
  useEffect(() => {
    if (given !== undefined) setDraft(given);
  }, [given, setDraft]);
  const [kept, setSetup] = useState(() => again?.setup ?? firstSetup(boards, board));
  useEffect(() => {
    if (again) remember(LAST_BOARD, again.setup);
  }, [again]);
  const [isEditing, setEditing] = useState(false);
  const [files, setFiles] = useState<AttachedFile[]>(again?.files ?? []);
  const area = useRef<HTMLDivElement>(null);
  const convene = useConvene(DRAFT, (sent) =>
    forgetSent<string>(DRAFT, (kept) => kept.trim() === sent.prompt),
  );
  const limits = useLimits().data;
  const tiers = useTiers().data ?? [];
  const attachments = useAttachments(files, setFiles);
  const isNarrow = useNarrow();
  const editor = useId();
  const names = models.map((model) => model.name);
  const inTurn = seatedInTurn(models);
  const setup = settled(kept, names);
  const problem = convene.error instanceof Problem ? convene.error : undefined;

  const write = (text: string) => {
    setPrompt(text);
    setDraft(text === "" ? undefined : text);
  };
  const takeBack = () => {
    write(former ?? "");
    setFormer(undefined);
  };
  const change = (next: Setup) => {
    setSetup(next);
    remember(LAST_BOARD, next);
  };
  const sent = request(prompt.trim(), setup, files, boards, tiers);
  const canConvene = prompt.trim() !== "" && !convene.isPending && models.length > 0;
  const submit = () => {
    if (!canConvene) return;
    convene.mutate(sent, {
      onSuccess: (made) => go(`/boardrooms/${made.id}`),
      // What is wrong stands at its field, which must be in sight.
      onError: (error) => {
        if (error instanceof Problem && error.fields.some((one) => one.field !== "prompt")) {
          setEditing(true);
        }
      },
    });
  };

  return (
    <div className="convene">
      {former !== undefined && (
        <Notice action={<Button onClick={takeBack}>Restore</Button>}>
          You have an unsent draft: “{former.slice(0, 80)}”
        </Notice>
      )}
      <form
        className="convene-box"
        aria-label="Convene a board"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
        {...attachments.zone}
      >
        <div ref={area}>
          <GrowingArea
            className="convene-prompt"
            aria-label="Question for the board"
            placeholder="What should the board decide?"
            rows={3}
            autoFocus={autoFocus}
            value={prompt}
            onChange={(event) => write(event.target.value)}
            onKeyDown={(event) => {
              if (!isSending(event)) return;
              event.preventDefault();
              submit();
            }}
          />
        </div>
        <Attached of={attachments} />
        <div className="convene-foot">
          <AttachButton of={attachments} isShort={isNarrow} />
          {models.length > 0 && <Foreseen body={sent} isShort={isNarrow} />}
          <span className="convene-key muted small" aria-hidden="true">
            ⏎ convene
          </span>
          <Button type="submit" look="primary" icon="play" disabled={!canConvene}>
            {convene.isPending ? "Convening…" : "Convene"}
          </Button>
        </div>
      </form>
      <Wrong error={problem ? inFormWords(problem) : convene.error} />
      <BoardChoice
        boards={boards}
        setup={setup}
        onChoose={(board) => change(setupBy(defaults(), board))}
      />
      <SetupLine
        setup={setup}
        boards={boards}
        inTurn={inTurn}
        isEditing={isEditing}
        controls={editor}
        onEdit={() => setEditing(!isEditing)}
      />
      <div id={editor} className="stack" hidden={!isEditing}>
        {isEditing && (
          <>
            <BoardEditor
              setup={setup}
              presets={presets}
              inTurn={inTurn}
              advisorsMost={limits?.boardroom["advisors"]?.most ?? Infinity}
              problem={problem}
              onChange={change}
            />
            <SaveBoard setup={setup} onSaved={(board) => change({ ...setup, board: board.name })} />
          </>
        )}
      </div>
      <div className="samples">
        <span className="muted small">Or try</span>
        {presets.prompts.map((sample) => (
          <button
            key={sample.id}
            type="button"
            className="sample"
            title={sample.text}
            onClick={() => {
              write(sample.text);
              area.current?.querySelector("textarea")?.focus();
            }}
          >
            {sample.name}
            <Icon name="right" size={12} />
          </button>
        ))}
      </div>
    </div>
  );
}

const FIELDS: readonly [RegExp, string][] = [
  [/^prompt$/, "Question"],
  [/^advisors\[\d+\]\.person$/, "name"],
  [/^advisors\[\d+\]\.(?:model|tier)$/, "model"],
  [/^advisors\[\d+\]\.role$/, "role"],
  [/^advisors\[\d+\]\.agent$/, "agent"],
  [/^advisors\[\d+\]\.reply.*$/, "minutes"],
  [/^advisors\[\d+\]\.systemPrompt$/, "prompt"],
  [/^synthesizer$/, "Who writes the verdict"],
  [/^quorum\.need$/, "Minimum answers"],
  [/^quorum\.graceSeconds$/, "Wait for the rest"],
  [/^budget\.tokens$/, "Budget, tokens"],
  [/^budget\.cost$/, "Budget, cost"],
  [/^budget\.seconds$/, "Budget, time"],
  [/^budget$/, "Budget"],
];

/** A refusal with the names that its fields have on screen. */
function inFormWords(problem: Problem): Problem {
  const fields = problem.fields.map(({ field, problem: wrong }) => {
    const name = FIELDS.find(([pattern]) => pattern.test(field))?.[1] ?? field;
    const seat = /^advisors\[(\d+)\]/.exec(field)?.[1];
    const file = /^context\[(\d+)\]/.exec(field)?.[1];
    if (seat !== undefined)
      return { field: `Advisor ${Number(seat) + 1}, ${name}`, problem: wrong };
    if (file !== undefined) return { field: `File ${Number(file) + 1}`, problem: wrong };
    return { field: name, problem: wrong };
  });
  return new Problem(problem.status, problem.code, problem.message, problem.hint, fields);
}
