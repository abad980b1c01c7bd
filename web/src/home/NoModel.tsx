import { useState, type ReactNode } from "react";
import type { Schemas } from "../api/client";
import type { Provider } from "../api/known";
import {
  isUnderWay,
  providerOf,
  pull,
  setKey,
  stopPull,
  useOffers,
  usePulls,
  useSet,
  type Pull,
} from "../settings/operator";
import { Button } from "../ui/Button";
import { Loading } from "../ui/Empty";
import { SelectField, TextField } from "../ui/Field";
import { Icon, type IconName } from "../ui/icons";
import { Wrong } from "../ui/Notice";
import { Found } from "./Found";

interface Props {
  providers: readonly Provider[];
  onLook: () => void;
}

/** Nothing can be asked yet: three ways to a model, each with the same facts and one action. */
export function NoModel({ providers, onLook }: Props) {
  return (
    <section className="stack" aria-label="What to do">
      <p className="home-lead">
        Advisors need at least one model. Any of these is enough, and you can add the others later.
      </p>
      <div className="first-ways">
        <Download />
        <PasteKey />
        <Way
          icon="settings"
          title="Use Ollama"
          facts={{
            "Good for": "Private work: open models, as good as your hardware allows.",
            Costs: "Only electricity",
            "Leaves this machine": "Nothing",
            "Ready in": "Seconds, once it runs",
          }}
        >
          <p className="muted small">
            Start it with <code>ollama serve</code>. This page updates automatically.
          </p>
          <Button onClick={onLook}>Refresh</Button>
        </Way>
      </div>
      <details className="card">
        <summary>Where Plenary looked</summary>
        <Found providers={providers} />
      </details>
      <p className="muted small">
        In a terminal: <code>plenary models pull</code> downloads a model, and{" "}
        <code>plenary doctor</code> says what is missing.
      </p>
    </section>
  );
}

interface WayProps {
  icon: IconName;
  title: string;
  facts: Record<string, string>;
  children: ReactNode;
}

function Way({ icon, title, facts, children }: WayProps) {
  return (
    <section className="card first-way" aria-label={title}>
      <h2>
        <span className="glyph">
          <Icon name={icon} />
        </span>
        {title}
      </h2>
      <dl>
        {Object.entries(facts).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div className="first-do">{children}</div>
    </section>
  );
}

/** 639 MB, 1.8 GB: in thousands, as hubs and the terminal say it. */
function downloadInWords(bytes: number): string {
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

interface Choice {
  name: string;
  /** What it is good for, or whose it is. */
  about: string;
  bytes: number;
  /** Of a file that is on this machine already, nothing is said. */
  licence?: string;
}

/** What suits this machine first: the server has looked. */
function choicesOf({ found, downloads, suggestion }: Schemas["Offers"]): Choice[] {
  const choices = [
    ...found.map(({ name, by, bytes }) => ({ name, bytes, about: `On this machine, from ${by}` })),
    ...downloads
      .filter(({ fits }) => fits)
      .map(({ name, bytes, licence, goodFor }) => ({ name, bytes, licence, about: goodFor })),
  ];
  const isSuggested = ({ name }: Choice) => name === suggestion.model;
  return [...choices.filter(isSuggested), ...choices.filter((one) => !isSuggested(one))];
}

function Download() {
  const offers = useOffers();
  const pulls = usePulls();
  const begin = useSet(pull);
  const stop = useSet(stopPull);
  const [name, setName] = useState<string>();
  const { data } = offers;
  if (offers.isPending) {
    // It keeps its place, so that nothing moves under somebody who has begun to read.
    return (
      <Way icon="download" title="Download a model" facts={{}}>
        <Loading what="Looking at this machine" />
      </Way>
    );
  }
  if (!data?.engine) return null;
  const choices = choicesOf(data);
  const chosen = choices.find((one) => one.name === name) ?? choices[0];
  if (!chosen) return null;
  const last = pulls.data?.at(-1);
  const isHere = chosen.licence === undefined;
  return (
    <Way
      icon="download"
      title="Download a model"
      facts={{
        "Good for": chosen.about.charAt(0).toUpperCase() + chosen.about.slice(1),
        Costs: "Nothing",
        "Leaves this machine": "Nothing",
        "Ready in": isHere ? "Seconds" : "A few minutes, depending on your connection",
      }}
    >
      {last && isUnderWay(last) ? (
        <Progress of={last} onStop={() => stop.mutate(last.id)} />
      ) : (
        <>
          <SelectField
            label="Model"
            labelUnseen
            value={chosen.name}
            onChange={(event) => setName(event.target.value)}
            options={choices.map(({ name, bytes }) => [
              name,
              `${name} · ${downloadInWords(bytes)}`,
            ])}
            {...(chosen.licence !== undefined && { hint: `License: ${chosen.licence}` })}
          />
          {last?.problem !== undefined && <Wrong error={new Error(last.problem)} />}
          <Button
            look="primary"
            icon="download"
            disabled={begin.isPending}
            onClick={() => begin.mutate(chosen.name)}
          >
            {isHere ? "Use this model" : `Download ${downloadInWords(chosen.bytes)}`}
          </Button>
        </>
      )}
      <Wrong error={begin.error ?? stop.error} />
    </Way>
  );
}

function Progress({ of: { bytes, totalBytes, model }, onStop }: { of: Pull; onStop: () => void }) {
  return (
    <div className="stack">
      <progress
        aria-label={`Downloading ${model}`}
        value={totalBytes === undefined ? undefined : bytes}
        max={totalBytes}
      />
      <p className="row small">
        <strong className="number">
          {downloadInWords(bytes)}
          {totalBytes !== undefined && ` of ${downloadInWords(totalBytes)}`}
        </strong>
        <Button look="quiet" className="spread" onClick={onStop}>
          Cancel
        </Button>
      </p>
    </div>
  );
}

function PasteKey() {
  const [key, setText] = useState("");
  const save = useSet(setKey);
  const provider = providerOf(key);
  const isUnknown = key.trim() !== "" && provider === undefined;
  return (
    <Way
      icon="lock"
      title="Paste an API key"
      facts={{
        "Good for": "Decisions that matter: the strongest models, several families at once.",
        Costs: "The provider’s prices, estimated up front",
        "Leaves this machine": "Your question and its files",
        "Ready in": "Seconds",
      }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (provider)
            save.mutate({ provider, key: key.trim() }, { onSuccess: () => setText("") });
        }}
      >
        <TextField
          label="API key"
          labelUnseen
          type="password"
          autoComplete="off"
          placeholder="Paste a key…"
          hint="OpenAI, Anthropic, Gemini or OpenRouter. Kept on this server, never shown again."
          wrong={
            isUnknown
              ? "Plenary does not recognize this key. Add it in Settings, under its provider."
              : undefined
          }
          value={key}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" look="primary" disabled={!provider || save.isPending}>
          {save.isPending ? "Checking…" : "Use this key"}
        </Button>
      </form>
      <Wrong error={save.error} />
    </Way>
  );
}
