import { useState } from "react";
import type { Schemas } from "../api/client";
import { toast } from "../ui/announce";
import { Button, IconButton } from "../ui/Button";
import { TextField } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { removeKey, setKey, useSet, useSettings } from "./operator";

const NAMES: Record<string, string> = {
  openai: "OpenAI",
  anthropic: "Anthropic",
  gemini: "Gemini",
  openrouter: "OpenRouter",
};

/** Keys can be set and replaced here, and never read. */
export function Keys() {
  const settings = useSettings();
  // Only the operator of the server may see which keys there are.
  if (!settings.data) return null;
  return (
    <section className="card" aria-labelledby="settings-keys">
      <h2 id="settings-keys">Keys</h2>
      <p className="muted">
        For everyone who uses this server. Keys can be replaced but never viewed.
      </p>
      <ul className="list settings-list">
        {settings.data.keys.map((one) => (
          <li key={one.provider}>
            <OneKey of={one} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OneKey({ of: { provider, variable, from } }: { of: Schemas["ProviderKey"] }) {
  const [isOpen, setOpen] = useState(false);
  const action = from === undefined ? "Add a key" : "Replace key";
  const [key, setText] = useState("");
  const save = useSet(setKey);
  const remove = useSet(removeKey);
  const name = NAMES[provider] ?? provider;
  const isOurs = from === "settings";
  return (
    <div className="settings-key">
      <div className="row">
        <div>
          <h3>{name}</h3>
          <p className="muted small">
            {from === undefined
              ? "No key"
              : isOurs
                ? "Set here"
                : `From ${variable}; change it there`}
          </p>
        </div>
        <span className="row spread">
          {!isOpen && (
            <Button onClick={() => setOpen(true)} aria-label={`${action} for ${name}`}>
              {action}
            </Button>
          )}
          {isOurs && (
            <IconButton
              icon="trash"
              label={`Remove the ${name} key`}
              disabled={remove.isPending}
              onClick={() => remove.mutate(provider)}
            />
          )}
        </span>
      </div>
      {isOpen && (
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            save.mutate(
              { provider, key: key.trim() },
              {
                onSuccess: () => {
                  setText("");
                  setOpen(false);
                  toast("Key saved");
                },
              },
            );
          }}
        >
          <TextField
            label={`${name} key`}
            labelUnseen
            type="password"
            autoComplete="off"
            autoFocus
            value={key}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" look="primary" disabled={key.trim() === "" || save.isPending}>
            Save key
          </Button>
          <Button onClick={() => setOpen(false)}>Cancel</Button>
        </form>
      )}
      <Wrong error={save.error ?? remove.error} />
    </div>
  );
}
