// Where a post is written. What was typed stays until it has been sent, whatever happens.

import { useId, useRef, useState, type KeyboardEvent } from "react";
import { flushSync } from "react-dom";
import { asked, client, Problem, type Schemas } from "../api/client";
import { forgetSent, useWrite } from "../api/write";
import { useKeptText } from "../stored";
import { announce } from "../ui/announce";
import { Button, IconButton } from "../ui/Button";
import { GrowingArea } from "../ui/Field";
import { Icon } from "../ui/icons";
import { isComposing, isSending } from "../ui/keys";
import { Wrong } from "../ui/Notice";
import type { CouncilView } from "./useCouncil";
import { matching, mentionAt, named } from "./mention";
import { MentionList, optionId } from "./MentionList";
import type { useSender } from "./useSender";
import { firstLine, type Post } from "./entries";

interface Props {
  view: CouncilView;
  sender: ReturnType<typeof useSender>;
  /** Others who have posted here. */
  senders: readonly string[];
  replyTo: Post | undefined;
  onReplyEnd: () => void;
  onPosted: (posted: Schemas["CouncilPosted"]) => void;
}

const ALL = "all";
const OPTIONS_SHOWN = 8;

export function Composer({ view, sender, senders, replyTo, onReplyEnd, onPosted }: Props) {
  const place = `council-draft.${view.sessionId}`;
  const [body, setBody] = useKeptText(place);
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  const name = sender.name.trim();
  const [isNameMissing, setNameMissing] = useState(false);
  const post = usePosting(view, sender, place);
  const problem = post.error instanceof Problem ? post.error : undefined;
  const isTaken = problem?.code === "not-your-agent";
  const nameWrong =
    problem?.field("sender") ??
    (isTaken ? `${name} is someone else’s name here. Choose another.` : undefined) ??
    (isNameMissing && name === "" ? "Enter the name to post under." : undefined);

  const send = () => {
    if (body.trim() === "" || post.isPending) return;
    setNameMissing(name === "");
    if (name === "") {
      form.current?.querySelector<HTMLElement>("input")?.focus();
      return;
    }
    const reply = replyTo && { replyTo: replyTo.sequence };
    post.mutate(
      { sender: name, body, ...reply },
      {
        onSuccess: (posted) => {
          onReplyEnd();
          onPosted(posted);
        },
      },
    );
  };

  const mentions = useMentions({ id, view, senders, me: name, body, setBody, form });
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event) || mentions.onKeyDown(event)) return;
    if (isSending(event)) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && replyTo) {
      onReplyEnd();
    }
  };

  return (
    <form
      className="council-composer card no-print"
      aria-label="Write a post"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {replyTo && (
        <div className="council-replying small">
          <Icon name="reply" size={12} />
          <span>
            Reply to <strong>{replyTo.sender}</strong> {firstLine(replyTo.body)}
          </span>
          <IconButton icon="close" label="Cancel reply" onClick={onReplyEnd} />
        </div>
      )}
      {mentions.list}
      <label className="unseen" htmlFor={`${id}-body`}>
        Post
      </label>
      <GrowingArea
        id={`${id}-body`}
        rows={2}
        value={body}
        placeholder="Write a post… @name asks a member"
        aria-invalid={problem?.field("body") ? true : undefined}
        {...mentions.attributes}
        onChange={(event) => {
          setBody(event.target.value);
          mentions.onCaret(event.target);
        }}
        onSelect={(event) => mentions.onCaret(event.currentTarget)}
        onBlur={mentions.close}
        onKeyDown={onKeyDown}
      />
      {post.error && !isTaken && !nameWrong ? <Wrong error={post.error} /> : null}
      <div className="council-composer-foot">
        <label htmlFor={`${id}-name`} className="small muted">
          Your name
        </label>
        <input
          id={`${id}-name`}
          className="input"
          autoComplete="off"
          list={`${id}-people`}
          value={sender.name}
          aria-invalid={nameWrong ? true : undefined}
          aria-describedby={nameWrong ? `${id}-name-wrong` : undefined}
          onChange={(event) => {
            sender.setName(event.target.value);
            post.reset();
          }}
        />
        <datalist id={`${id}-people`}>
          {view.members
            .filter((member) => member.model === undefined)
            .map((member) => (
              <option key={member.name} value={member.name} />
            ))}
        </datalist>
        <span className="muted small hint spread">
          <kbd>Enter</kbd> sends, <kbd>Shift+Enter</kbd> adds a line
        </span>
        <Button type="submit" look="primary" disabled={body.trim() === "" || post.isPending}>
          {post.isPending ? "Posting…" : "Post"}
        </Button>
      </div>
      {nameWrong && (
        <p className="wrong small" id={`${id}-name-wrong`} role="alert">
          {nameWrong}
        </p>
      )}
    </form>
  );
}

/** The same post sent again after a lost answer is one post. */
function usePosting(view: CouncilView, sender: ReturnType<typeof useSender>, place: string) {
  return useWrite(
    (post: Schemas["NewCouncilPost"], key) => {
      const token = sender.tokens[post.sender];
      return asked(
        client.POST("/api/councils/{council}/posts", {
          params: {
            path: { council: view.council },
            header: { ...key, ...(token !== undefined && { "Agent-Token": token }) },
          },
          body: post,
        }),
      );
    },
    {
      place,
      onSent: (posted, post) => {
        sender.claimed(posted.sender, posted.agentToken);
        forgetSent<string>(place, (kept) => kept === post.body);
      },
    },
  );
}

interface Naming {
  id: string;
  view: CouncilView;
  senders: readonly string[];
  me: string;
  body: string;
  setBody: (body: string) => void;
  form: React.RefObject<HTMLFormElement | null>;
}

/** Completes `@name`: arrows choose, Enter or Tab takes, Escape leaves it as it is. */
function useMentions({ id, view, senders, me, body, setBody, form }: Naming) {
  const [caret, setCaret] = useState<number>();
  const [chosen, setChosen] = useState(0);
  const listId = `${id}-members`;
  const mention = caret === undefined ? undefined : mentionAt(body, caret);
  const members = view.members.map((member) => member.name);
  const others = senders.filter((name) => !members.includes(name));
  const known = [...members, ...others].filter((name) => name !== me);
  const found = mention ? matching([...known, ALL], mention.written).slice(0, OPTIONS_SHOWN) : [];
  // Nothing is left to complete once the name stands there.
  const isWhole = found.length === 1 && found[0] === mention?.written;
  const isOpen = mention !== undefined && found.length > 0 && !isWhole;
  const index = Math.min(chosen, found.length - 1);

  const about = (name: string) => {
    if (name === ALL) return "everyone with a model";
    const member = view.members.find((one) => one.name === name);
    return member?.model ?? "a person or outside agent";
  };
  const close = () => setCaret(undefined);
  const pick = (name: string) => {
    if (!mention) return;
    const result = named(body, mention, name);
    // At once, or what is typed next stands at the end.
    flushSync(() => {
      setBody(result.text);
      close();
    });
    form.current?.querySelector("textarea")?.setSelectionRange(result.caret, result.caret);
    announce(`${name} is named`);
  };
  const onCaret = (area: HTMLTextAreaElement) => {
    const isRange = area.selectionStart !== area.selectionEnd;
    const place = isRange ? undefined : area.selectionStart;
    if (place === caret) return;
    setCaret(place);
    setChosen(0);
  };
  /** True when the key was for the list. */
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!isOpen) return false;
    const name = found[index];
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: found.length - 1 };
    const step = steps[event.key];
    if (step !== undefined) setChosen((index + step) % found.length);
    else if (["Enter", "Tab"].includes(event.key) && !event.shiftKey && name) pick(name);
    else if (event.key === "Escape") close();
    else return false;
    event.preventDefault();
    return true;
  };
  const attributes = {
    "aria-autocomplete": "list" as const,
    "aria-haspopup": "listbox" as const,
    "aria-controls": isOpen ? listId : undefined,
    "aria-activedescendant": isOpen ? optionId(listId, index) : undefined,
  };
  const list = isOpen && (
    <MentionList id={listId} names={found} chosen={index} about={about} onPick={pick} />
  );
  return { list, attributes, onKeyDown, onCaret, close };
}
