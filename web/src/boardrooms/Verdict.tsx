import { memo, useState, type ReactNode } from "react";
import { BEGUN_AGAIN, useBegunAgain, useText, type Texts } from "../live/texts";
import { Markdown } from "../markdown/Markdown";
import { Button, IconButton } from "../ui/Button";
import { copy } from "../ui/announce";
import { Menu } from "../ui/Menu";
import { Notice, Wrong } from "../ui/Notice";
import { shortModel } from "../ui/ModelSelect";
import { Cut, Spent } from "../ui/Spent";
import { duration } from "../ui/time";
import { BallotPaper } from "./BallotPaper";
import {
  askedNow,
  failureInWords,
  finished,
  isPending,
  versions,
  type Board,
  type Synthesis,
} from "./board";
import { useCommand } from "./commands";
import { Compare } from "./Compare";
import { Initials } from "./Initials";
import { itemsOf } from "./points";
import { Points } from "./Points";
import { Resynthesize } from "./Resynthesize";
import { headline, sections, withoutBegunHeading } from "./sections";

interface Props {
  board: Board;
  /** The version that is shown. */
  synthesis: Synthesis | undefined;
  texts: Texts;
  isAsking: boolean;
  /** The point whose sources are marked. */
  point: string | undefined;
  onPoint: (point: string | undefined) => void;
  onAsk: (isAsking: boolean) => void;
  onVersion: (number: number) => void;
}

export const Verdict = memo(function Verdict(props: Props) {
  const { board, synthesis, texts, isAsking, onAsk, onVersion } = props;
  const [isComparing, setComparing] = useState(false);
  const isLive = synthesis?.status === "answering";
  const canAsk = board.allowed.includes("resynthesize") || board.allowed.includes("synthesize");
  const whole = versions(board).filter((one) => one.text !== "");
  return (
    <section className="card verdict" aria-label="Verdict" aria-busy={isLive} tabIndex={-1}>
      <div className="verdict-head">
        <h2>Verdict</h2>
        {synthesis && <Version board={board} synthesis={synthesis} onVersion={onVersion} />}
      </div>
      {synthesis ? (
        <>
          <Absent board={board} synthesis={synthesis} />
          <VerdictText
            board={board}
            synthesis={synthesis}
            texts={texts}
            point={props.point}
            onPoint={props.onPoint}
          />
          <Cut of={synthesis} />
          <Notes synthesis={synthesis} />
          <Spent className="spent" {...synthesis} currency={board.currency} />
          <BallotPaper board={board} synthesis={synthesis} />
          <div className="row no-print">
            {board.allowed.includes("resynthesize") && (
              <Button icon="retry" shortcut="R" onClick={() => onAsk(true)}>
                Re-synthesize
              </Button>
            )}
            {board.allowed.includes("openBallot") && <OpenBallot board={board} />}
            {whole.length > 1 && (
              <Button onClick={() => setComparing(true)}>
                Compare v{whole.at(-2)?.number} → v{whole.at(-1)?.number}
              </Button>
            )}
            {synthesis.text !== "" && !isLive && (
              <IconButton
                icon="copy"
                label="Copy the verdict"
                className="spread"
                onClick={() => void copy(synthesis.text)}
              />
            )}
          </div>
        </>
      ) : (
        <Pending board={board} />
      )}
      {isAsking && canAsk && <Resynthesize board={board} onClose={() => onAsk(false)} />}
      {isComparing && <Compare syntheses={whole} onClose={() => setComparing(false)} />}
    </section>
  );
});

/** For a board that was convened without votes, or came to none. */
function OpenBallot({ board }: { board: Board }) {
  const command = useCommand(board.id);
  return (
    <>
      <Button disabled={command.isPending} onClick={() => command.mutate({ do: "openBallot" })}>
        Hold a vote
      </Button>
      <Wrong error={command.error} />
    </>
  );
}

interface VersionProps {
  board: Board;
  synthesis: Synthesis;
  onVersion: (number: number) => void;
}

function Version({ board, synthesis, onVersion }: VersionProps) {
  const all = versions(board);
  const place = all.indexOf(synthesis) + 1;
  const words = `${shortModel(synthesis.model)} · version ${place} of ${all.length}`;
  const title =
    synthesis.latencyMs === undefined ? undefined : `Written in ${duration(synthesis.latencyMs)}`;
  if (all.length < 2) {
    return (
      <span className="muted mono" title={title}>
        {shortModel(synthesis.model)}
      </span>
    );
  }
  return (
    <Menu
      label={words}
      className="button quiet version"
      icon="down"
      items={all.toReversed().map((one) => ({
        label: `v${one.number} · ${shortModel(one.model)}${one.instruction ? ` · ${one.instruction}` : ""}`,
        isChosen: one.number === synthesis.number,
        run: () => onVersion(one.number),
      }))}
    />
  );
}

type TextProps = Pick<Props, "board" | "texts" | "point" | "onPoint"> & { synthesis: Synthesis };

function VerdictText({ board, synthesis, texts, point, onPoint }: TextProps) {
  const shown = useText(texts.of(synthesis.callId));
  const hasBegunAgain = useBegunAgain(texts.of(synthesis.callId));
  const isLive = synthesis.status === "answering";
  const text = isLive && shown !== "" ? shown : synthesis.text;
  if (text === "") {
    return isLive ? (
      <p className="muted">{shortModel(synthesis.model)} is reading the answers.</p>
    ) : null;
  }
  return (
    <>
      {isLive && hasBegunAgain && <p className="aside-note">{BEGUN_AGAIN}</p>}
      <VerdictSections
        text={text}
        isLive={isLive}
        points={(items) => (
          <Points
            board={board}
            synthesis={synthesis}
            items={items}
            chosen={point}
            onChoose={onPoint}
          />
        )}
      />
    </>
  );
}

interface SectionsProps {
  text: string;
  isLive: boolean;
  /** Of an earlier question, whose sections are told apart from those of the last. */
  round?: number;
  /** Shows the points of a section that is a list of them. */
  points?: (items: readonly string[]) => ReactNode;
}

const POINTED: readonly string[] = ["Points of Agreement", "Points of Divergence"];

/** A verdict's text under its four headings. */
export function VerdictSections({ text, isLive, round, points }: SectionsProps) {
  const label = (name: string) => (round === undefined ? name : `${name}, question ${round}`);
  return (
    <div className="verdict-text">
      {sections(isLive ? withoutBegunHeading(text) : text).map((section, place, all) => {
        const isGrowing = isLive && place === all.length - 1;
        if (section.name === undefined) {
          return <Markdown key="before" text={section.text} live={isGrowing} under={2} />;
        }
        if (section.name === "Consensus") {
          const { head, rest } = headline(section.text, isGrowing);
          return (
            <section key={section.name} aria-label={label("Consensus")}>
              <h3 className="unseen">Consensus</h3>
              {head !== undefined && <p className="headline">{head}</p>}
              <Markdown text={rest} live={isGrowing} under={3} serif />
            </section>
          );
        }
        return (
          <section key={section.name} aria-label={label(section.name)}>
            <h3>{inSentenceCase(section.name)}</h3>
            {(points &&
              !isLive &&
              POINTED.includes(section.name) &&
              shownAs(section.text, points)) || (
              <Markdown text={section.text} live={isGrowing} under={3} />
            )}
          </section>
        );
      })}
    </div>
  );
}

function shownAs(text: string, points: (items: readonly string[]) => ReactNode): ReactNode {
  const items = itemsOf(text);
  return items && points(items);
}

export function inSentenceCase(name: string): string {
  return name.charAt(0) + name.slice(1).toLowerCase();
}

/** Who was not heard is said before what was concluded without them. */
function Absent({ board, synthesis: { absent, basis } }: { board: Board; synthesis: Synthesis }) {
  const command = useCommand(board.id);
  const who = (id: number) => board.advisors.find((advisor) => advisor.id === id);
  if (absent.length === 0) return null;
  return (
    <div className="absent">
      {absent.map((one) => {
        const advisor = who(one.advisor);
        return (
          <p key={one.advisor}>
            {advisor && <Initials advisor={advisor} among={board.advisors} />}{" "}
            <strong>
              {one.name} {advisor?.text ? "did not finish" : "did not answer"}:
            </strong>{" "}
            {one.why}.{" "}
            {advisor && board.allowed.includes("retry") && !isPending(advisor) && (
              <button
                type="button"
                className="link-button no-print"
                disabled={command.isPending}
                onClick={() => command.mutate({ do: "retry", advisor: one.advisor })}
              >
                Ask again<span className="unseen">: {one.name}</span>
              </button>
            )}
          </p>
        );
      })}
      <p>
        The verdict is based on {basis.length} of {basis.length + absent.length} advisors.
      </p>
      <Wrong error={command.error} />
    </div>
  );
}

/** What a reader should know before relying on it. */
function Notes({ synthesis }: { synthesis: Synthesis }) {
  const { failedBefore, instruction, headings, status, error } = synthesis;
  return (
    <div className="verdict-notes">
      {instruction !== undefined && <p>Instruction: {instruction}</p>}
      {failedBefore.map((one, place) => (
        <p key={place} className="warned">
          {whatFollowed(one.model, failedBefore[place + 1]?.model ?? synthesis.model)}{" "}
          {failureInWords(one.error)}
        </p>
      ))}
      {headings === "missing" && (
        <p className="warned">
          The model did not follow the four sections. This is its text as written.
        </p>
      )}
      {headings === "repaired" && <p>The headings were corrected; the wording is the model’s.</p>}
      {status === "stopped" && <p className="warned">Stopped here; the verdict is incomplete.</p>}
      {status === "failed" && error && (
        <Notice look="bad">
          <p>The verdict could not be written. {failureInWords(error)}</p>
          <p className="small">{error.message}</p>
        </Notice>
      )}
    </div>
  );
}

function whatFollowed(failed: string, next: string): string {
  return failed === next
    ? `${shortModel(failed)} failed and was asked again.`
    : `${shortModel(failed)} failed, so ${shortModel(next)} took over.`;
}

/** In place of a verdict, before there is one. */
function Pending({ board }: { board: Board }) {
  const command = useCommand(board.id);
  const done = finished(board).length;
  const all = askedNow(board).length;
  const synthesize = () => command.mutate({ do: "synthesize" });
  return (
    <>
      <p className="muted">
        {board.status === "failed"
          ? (board.failure ?? "No advisor answered.")
          : "There is no verdict: the board was stopped before it was written."}
      </p>
      {board.allowed.includes("synthesize") && (
        <div className="row no-print">
          <Button look="primary" disabled={command.isPending} onClick={synthesize}>
            Synthesize {done} of {all}
          </Button>
        </div>
      )}
      <Wrong error={command.error} />
    </>
  );
}
