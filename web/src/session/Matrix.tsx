// Who said what of which: votes by point and voter, agreement by pair.

import { Fragment, useState, type CSSProperties, type ReactNode } from "react";
import { some } from "../ui/time";

export type Vote = "accept" | "reject" | "defer";

export const SIGNS: Record<Vote, string> = { accept: "✓", reject: "✕", defer: "–" };
export const VOTES: Record<Vote, string> = {
  accept: "accepts",
  reject: "rejects",
  defer: "defers",
};

/** A vote by its sign and colour, with its word for those who hear the page. */
export function VoteSign({ vote, title }: { vote: Vote; title?: string | undefined }) {
  return (
    <span className={`vote ${vote}`} title={title}>
      <span aria-hidden="true">{SIGNS[vote]}</span>
      <span className="unseen">{vote}</span>
    </span>
  );
}

/** In place of a vote that was not cast. */
export function NoVote({
  word,
  title,
  sign = "",
}: {
  word: string;
  title?: string;
  sign?: string;
}) {
  return (
    <span className="vote none" title={title}>
      <span aria-hidden="true">{sign}</span>
      <span className="unseen">{word}</span>
    </span>
  );
}

export interface Column {
  key: string | number;
  head: ReactNode;
}

export interface Line {
  key: string | number;
  head: ReactNode;
  cells: readonly ReactNode[];
  /** At its end, outside of the columns. */
  tail?: ReactNode;
  /** Something chosen elsewhere belongs to it. */
  isMarked?: boolean;
  /** Beneath it, over its whole width. */
  beneath?: ReactNode;
}

interface MatrixProps {
  label: string;
  corner?: ReactNode;
  columns: readonly Column[];
  rows: readonly Line[];
  className?: string;
}

export function Matrix({ label, corner, columns, rows, className = "" }: MatrixProps) {
  return (
    <div className={`matrix ${className}`} tabIndex={0} role="region" aria-label={label}>
      <table>
        <caption className="unseen">{label}</caption>
        <thead>
          <tr>
            {corner === undefined ? <td /> : <th scope="col">{corner}</th>}
            {columns.map(({ key, head }) => (
              <th key={key} scope="col" className="cell">
                {head}
              </th>
            ))}
            {rows.some(({ tail }) => tail !== undefined) && <td className="tail" />}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, head, cells, tail, isMarked, beneath }) => (
            <Fragment key={key}>
              <tr className={isMarked ? "marked" : undefined}>
                <th scope="row">{head}</th>
                {cells.map((cell, place) => (
                  <td key={columns[place]?.key ?? place} className="cell">
                    {cell}
                  </td>
                ))}
                {tail !== undefined && <td className="tail">{tail}</td>}
              </tr>
              {beneath && (
                <tr>
                  <td colSpan={columns.length + 2}>{beneath}</td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export interface Voter {
  key: string | number;
  name: string;
  head: ReactNode;
}

interface AgreementProps<V extends Voter> {
  label: string;
  corner?: string;
  voters: readonly V[];
  /** What votes are on. */
  noun: string;
  pairOf: (one: V, other: V) => { same: number; of: number } | undefined;
  /** Where two differ. */
  differences: (one: V, other: V) => readonly { key: string | number; shown: ReactNode }[];
}

/** How often two voted the same, in percent; a number leads to where they differ. */
export function Agreement<V extends Voter>(props: AgreementProps<V>) {
  const { voters, noun, pairOf } = props;
  const [chosen, setChosen] = useState<readonly [V["key"], V["key"]]>();
  const cell = (one: V, other: V) => {
    if (one.key === other.key) return <span className="same self" aria-hidden="true" />;
    const { same, of } = pairOf(one, other) ?? { same: 0, of: 0 };
    const both = `${one.name} and ${other.name}`;
    if (of === 0) {
      return (
        <span className="same none" title={`${both}: no votes in common`}>
          <span className="unseen">no votes in common</span>
        </span>
      );
    }
    const percent = Math.round((100 * same) / of);
    const words = `${both}: the same vote on ${same} of ${some(of, noun)}`;
    const isChosen = chosen?.includes(one.key) && chosen.includes(other.key);
    return (
      <button
        type="button"
        className="same"
        style={{ "--part": same / of } as CSSProperties}
        title={words}
        aria-label={`${percent} percent. ${words}`}
        aria-pressed={isChosen ?? false}
        onClick={() => setChosen([one.key, other.key])}
      >
        {percent}
      </button>
    );
  };
  const [left, right] = (chosen ?? []).map((key) => voters.find((one) => one.key === key));
  const differ = left && right ? props.differences(left, right) : [];
  return (
    <>
      <Matrix
        className="square"
        label={props.label}
        corner={props.corner}
        columns={voters.map(({ key, head }) => ({ key, head }))}
        rows={voters.map((one) => ({
          key: one.key,
          head: (
            <>
              {one.head} {one.name}
            </>
          ),
          cells: voters.map((other) => cell(one, other)),
        }))}
      />
      {left && right && (
        <div className="differences" role="status">
          <h3>
            {left.name} and {right.name}{" "}
            {differ.length === 0 ? `agree on every ${noun}` : "differ on"}
          </h3>
          <ul>
            {differ.map(({ key, shown }) => (
              <li key={key}>{shown}</li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
