// One box for everything: type, choose with the arrows, Enter. The focus stays in the box;
// the list is told of the choice by `aria-activedescendant`.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { flushSync } from "react-dom";
import { useLocation } from "wouter";
import { asked, client } from "../api/client";
import { Announcer } from "../ui/announce";
import { Icon } from "../ui/icons";
import { isComposing, Key } from "../ui/keys";
import { useAllShortcuts } from "../ui/shortcuts";
import { useSettled } from "../ui/settled";
import {
  actionCommands,
  matching,
  pageCommands,
  placeCommands,
  sessionCommands,
  type Command,
  type CommandGroup,
} from "./commands";
import { useTheme } from "./theme";

const SESSIONS_SHOWN = 6;
const TYPING_MS = 150;

export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const { groups, isSearching } = useGroups(typed);
  const commands = groups.flatMap((group) => group.commands);
  const chosen = commands[Math.min(at, commands.length - 1)];
  const id = useId();
  const optionId = (command: Command) => `${id}-${commands.indexOf(command)}`;

  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
    return () => element?.close();
  }, []);
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [chosen?.id]);

  const run = (command: Command) => {
    // The dialog gives the focus back first, so that what runs may take it.
    flushSync(onClose);
    command.run();
  };
  const press = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + 8, PageUp: at - 8 }[event.key];
    const isAgain = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
    if (to !== undefined) {
      const last = commands.length - 1;
      const isStep = Math.abs(to - at) === 1;
      setAt(to < 0 ? (isStep ? last : 0) : to > last ? (isStep ? 0 : last) : to);
    } else if (event.key === "Enter" && chosen) run(chosen);
    else if (isAgain) onClose();
    else return;
    event.preventDefault();
  };

  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Search and commands"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div className="palette-box">
        <Icon name="search" size={16} />
        <input
          type="text"
          role="combobox"
          aria-label="Search sessions, places and commands"
          aria-expanded="true"
          aria-autocomplete="list"
          aria-controls={`${id}-list`}
          aria-activedescendant={chosen && optionId(chosen)}
          autoComplete="off"
          autoCorrect="off"
          spellCheck={false}
          autoFocus
          placeholder="Search sessions, places, commands"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setAt(0);
          }}
          onKeyDown={press}
        />
        <Key of="Escape" />
      </div>
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label="Results"
        aria-busy={isSearching}
        className="palette-list"
      >
        {groups.map((group) => (
          <div key={group.title} role="group" aria-label={group.title}>
            <div className="palette-title" aria-hidden="true">
              {group.title}
            </div>
            {group.commands.map((command) => (
              <div
                key={command.id}
                id={optionId(command)}
                role="option"
                aria-selected={command === chosen}
                className="palette-option"
                onPointerMove={() => setAt(commands.indexOf(command))}
                onClick={() => run(command)}
              >
                <Icon name={command.icon} />
                <span className="palette-label">{command.label}</span>
                {command.note !== undefined && <span className="muted small">{command.note}</span>}
                {command.shortcut !== undefined && <Key of={command.shortcut} />}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p className="palette-none" role="status">
        {commands.length === 0 && (isSearching ? "Searching…" : `Nothing matches “${typed}”.`)}
      </p>
      <Announcer />
    </dialog>
  );
}

function useGroups(typed: string): { groups: CommandGroup[]; isSearching: boolean } {
  const [, go] = useLocation();
  const [theme, setTheme] = useTheme();
  const shortcuts = useAllShortcuts();
  const words = useSettled(typed.trim(), TYPING_MS);
  const query = { limit: SESSIONS_SHOWN, ...(words !== "" && { q: words }) };
  const found = useQuery({
    queryKey: ["sessions", "palette", query],
    queryFn: ({ signal }) => asked(client.GET("/api/sessions", { params: { query }, signal })),
    placeholderData: keepPreviousData,
  });
  const all: CommandGroup[] = [
    {
      title: words === "" ? "Recent" : "Sessions",
      commands: sessionCommands(found.data ?? [], go),
    },
    { title: "On this page", commands: matching(pageCommands(shortcuts), typed) },
    { title: "Actions", commands: matching(actionCommands(go, theme, setTheme), typed) },
    { title: "Go to", commands: matching(placeCommands(go), typed) },
  ];
  // Somebody who types the name of a place means it, and sessions come in later than it does.
  const order = typed === "" ? all : [...all.slice(1), ...all.slice(0, 1)];
  return {
    groups: order.filter((group) => group.commands.length > 0),
    isSearching: found.isFetching || words !== typed.trim(),
  };
}
