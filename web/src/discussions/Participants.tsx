// Who takes part: a list that can be reordered, and three ways to add somebody.

import { useRef } from "react";
import { IconButton } from "../ui/Button";
import { SelectField } from "../ui/Field";
import { Glyph } from "../ui/icons";
import { announce } from "../ui/announce";
import { ModelSelect } from "../ui/ModelSelect";
import { AddSeat } from "./AddSeat";
import { useEveryAgent, type Agent } from "../library/useAgents";
import { Deadline } from "./Deadline";
import { seatName, type LeaderDraft, type SeatDraft, type Wrongs } from "./draft";
import { roleName, SEAT_ROLES, TIERS, type Role } from "./words";

interface Props {
  seats: SeatDraft[];
  leader: LeaderDraft;
  wrongs: Wrongs;
  onChange: (seats: SeatDraft[]) => void;
}

export function Participants({ seats, leader, wrongs, onChange }: Props) {
  const agents = useEveryAgent().data ?? [];
  const list = useRef<HTMLOListElement>(null);
  const replace = (place: number, seat: SeatDraft) => onChange(seats.with(place, seat));
  const move = (from: number, to: number) => {
    const seat = seats[from];
    if (!seat || to < 0 || to >= seats.length) return;
    onChange(seats.toSpliced(from, 1).toSpliced(to, 0, seat));
    announce(`${seatName(seat, agents)} moved to ${to + 1} of ${seats.length}`);
  };
  const remove = (place: number) => {
    onChange(seats.toSpliced(place, 1));
    // The focus stays in the list, though the button is gone.
    requestAnimationFrame(() => {
      const rows = list.current?.querySelectorAll<HTMLElement>("li") ?? [];
      rows[Math.min(place, rows.length - 1)]?.focus();
    });
  };
  return (
    <section className="stack" aria-label="Participants">
      <div className="choices-head">
        <h3>Participants</h3>
        <span className="muted small">They speak when the facilitator gives them the floor.</span>
      </div>
      {wrongs.has("participants") && (
        <p className="wrong" role="alert" data-wrong="" tabIndex={-1}>
          {wrongs.get("participants")}
        </p>
      )}
      <ol className="seat-list" ref={list}>
        {seats.map((seat, place) => (
          <SeatRow
            key={seat.key}
            seat={seat}
            place={place}
            of={seats.length}
            agents={agents}
            wrongs={wrongs}
            onChange={(next) => replace(place, next)}
            onMove={(to) => move(place, to)}
            onRemove={() => remove(place)}
          />
        ))}
      </ol>
      <AddSeat
        agents={agents}
        taken={[leader, ...seats].map((seat) => seatName(seat, agents))}
        onAdd={(seat) => onChange([...seats, seat])}
      />
    </section>
  );
}

interface RowProps {
  seat: SeatDraft;
  place: number;
  of: number;
  agents: readonly Agent[];
  wrongs: Wrongs;
  onChange: (seat: SeatDraft) => void;
  onMove: (to: number) => void;
  onRemove: () => void;
}

function SeatRow({ seat, place, of, agents, wrongs, onChange, onMove, onRemove }: RowProps) {
  const name = seatName(seat, agents);
  const at = `participants[${place}]`;
  const wrong = [at, `${at}.agentId`, `${at}.name`, `${at}.person`, `${at}.persona`]
    .map((field) => wrongs.get(field))
    .find((found) => found !== undefined);
  return (
    <li className="seat-row" tabIndex={-1} data-wrong={wrong && ""} aria-label={name}>
      <Glyph role={seat.kind === "person" ? "person" : seat.role} />
      <div className="seat-who">
        <span className="seat-name">{name}</span>
        <span className="muted small">{describe(seat, agents)}</span>
      </div>
      <SelectField
        label={`Role of ${name}`}
        labelUnseen
        value={seat.role}
        wrong={wrongs.get(`${at}.role`)}
        onChange={(event) => onChange({ ...seat, role: event.target.value as Role })}
        options={SEAT_ROLES.map((role) => [role, roleName(role)])}
      />
      {seat.kind === "person" ? (
        <Deadline
          labelUnseen
          seconds={seat.replyWithinSeconds}
          onChange={(next) => {
            const { replyWithinSeconds: _, ...rest } = seat;
            onChange({ ...rest, ...next });
          }}
        />
      ) : (
        <ModelSelect
          label={`Model of ${name}`}
          labelUnseen
          value={seat.choice}
          none={usualModel(seat, agents)}
          prefix="model:"
          tiers
          wrong={wrongs.get(`${at}.model`) ?? wrongs.get(`${at}.tier`)}
          onChoose={(choice) => onChange({ ...seat, choice })}
        />
      )}
      <div className="seat-moves">
        <IconButton
          icon="up"
          label={`Move ${name} up`}
          disabled={place === 0}
          onClick={() => onMove(place - 1)}
        />
        <IconButton
          icon="down"
          label={`Move ${name} down`}
          disabled={place === of - 1}
          onClick={() => onMove(place + 1)}
        />
        <IconButton icon="close" label={`Remove ${name}`} onClick={onRemove} />
      </div>
      {wrong !== undefined && (
        <p className="wrong" role="alert">
          {wrong}
        </p>
      )}
    </li>
  );
}

function describe(seat: SeatDraft, agents: readonly Agent[]): string {
  switch (seat.kind) {
    case "agent":
      return agents.find((agent) => agent.id === seat.agentId)?.description ?? "From the library";
    case "model":
      return seat.persona.trim() === "" ? "A model" : seat.persona;
    case "person":
      return "A person, who replies on this page";
  }
}

function usualModel(seat: SeatDraft, agents: readonly Agent[]): string {
  const agent = agents.find((one) => one.id === seat.agentId);
  if (agent?.model !== undefined) return agent.model;
  if (agent?.tier !== undefined) return `${TIERS[agent.tier]} model`;
  return "Any model";
}
