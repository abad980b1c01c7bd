import { useState } from "react";
import { useModels, type Model } from "../api/known";
import { toast } from "../ui/announce";
import { Button, IconButton } from "../ui/Button";
import { Loading } from "../ui/Empty";
import { TextField } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { some } from "../ui/time";
import { setPrices, useSet, useSettings } from "./operator";
import { amountOf, sourceOf, withPrice, type Price, type Prices as All } from "./prices";

/** More than this many are behind a button. */
const SHOWN = 8;

export function Prices() {
  const settings = useSettings();
  const models = useModels();
  const [isLong, setLong] = useState(false);
  const [editing, setEditing] = useState<string>();
  const set = useSet((prices: All) => setPrices({ prices }));
  // Only the operator of the server may set them.
  if (!settings.data) return null;
  const { currency, prices } = settings.data;
  const all = models.data ?? [];
  const unpriced = all.filter(({ price }) => price === undefined).length;
  const save = (model: string, price: Price | undefined) =>
    set.mutate(withPrice(prices, model, price), {
      onSuccess: () => {
        setEditing(undefined);
        toast(price ? "Price saved" : "Price removed");
      },
    });
  return (
    <section className="card" aria-labelledby="settings-prices">
      <h2 id="settings-prices">Prices</h2>
      <p className="muted">
        {currency} per million tokens. Sessions keep the prices they began with.
      </p>
      {models.isLoading && <Loading />}
      <Wrong error={set.error} />
      {all.length > 0 && (
        <div className="prices-scroller" role="region" aria-label="Prices by model" tabIndex={0}>
          <table className="prices">
            <thead>
              <tr>
                <th scope="col">Model</th>
                <th scope="col">Input</th>
                <th scope="col">Output</th>
                <th scope="col">Source</th>
                <th scope="col">
                  <span className="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {(isLong ? all : all.slice(0, SHOWN)).map((model) =>
                editing === model.name ? (
                  <Editing
                    key={model.name}
                    model={model}
                    isBusy={set.isPending}
                    onSave={(price) => save(model.name, price)}
                    onClose={() => setEditing(undefined)}
                  />
                ) : (
                  <Row
                    key={model.name}
                    model={model}
                    isOwn={prices[model.name] !== undefined}
                    onEdit={() => setEditing(model.name)}
                    onUndo={() => save(model.name, undefined)}
                  />
                ),
              )}
            </tbody>
          </table>
        </div>
      )}
      {all.length > 0 && (
        <p className="muted small settings-foot">
          {some(all.length, "model")}.
          {unpriced > 0 && ` ${unpriced} without a price: their sessions show tokens only.`}
          {all.length > SHOWN && (
            <Button look="quiet" onClick={() => setLong(!isLong)}>
              {isLong ? "Show fewer" : "Show all"}
            </Button>
          )}
        </p>
      )}
    </section>
  );
}

interface RowProps {
  model: Model;
  /** Set here, by the operator. */
  isOwn: boolean;
  onEdit: () => void;
  onUndo: () => void;
}

function Row({ model: { name, price }, isOwn, onEdit, onUndo }: RowProps) {
  return (
    <tr>
      <th scope="row" className="mono">
        {name}
      </th>
      <td className="number">{price?.input ?? "–"}</td>
      <td className="number">{price?.output ?? "–"}</td>
      <td>
        {price ? sourceOf(price.source) : "Unknown"}
        {price?.saidOn !== undefined && <span className="muted small"> {price.saidOn}</span>}
        {isOwn && (
          <Button look="quiet" aria-label={`Undo the price of ${name}`} onClick={onUndo}>
            Undo
          </Button>
        )}
      </td>
      <td>
        <IconButton icon="edit" label={`Set the price of ${name}`} onClick={onEdit} />
      </td>
    </tr>
  );
}

interface EditingProps {
  model: Model;
  isBusy: boolean;
  onSave: (price: Price) => void;
  onClose: () => void;
}

function Editing({ model: { name, price }, isBusy, onSave, onClose }: EditingProps) {
  const [input, setInput] = useState(price ? `${price.input}` : "");
  const [output, setOutput] = useState(price ? `${price.output}` : "");
  const [amountIn, amountOut] = [amountOf(input), amountOf(output)];
  const form = `price-${name}`;
  const cached = price?.cached;
  return (
    <tr>
      <th scope="row" className="mono">
        {name}
        <form
          id={form}
          onSubmit={(event) => {
            event.preventDefault();
            if (amountIn === undefined || amountOut === undefined) return;
            onSave({
              input: amountIn,
              output: amountOut,
              ...(cached !== undefined && { cached }),
            });
          }}
        />
      </th>
      <td>
        <TextField
          label={`Input price of ${name}`}
          labelUnseen
          form={form}
          inputMode="decimal"
          autoFocus
          value={input}
          onChange={(event) => setInput(event.target.value)}
        />
      </td>
      <td>
        <TextField
          label={`Output price of ${name}`}
          labelUnseen
          form={form}
          inputMode="decimal"
          value={output}
          onChange={(event) => setOutput(event.target.value)}
        />
      </td>
      <td colSpan={2}>
        <span className="row">
          <Button
            type="submit"
            form={form}
            look="primary"
            disabled={isBusy || amountIn === undefined || amountOut === undefined}
          >
            Save
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </span>
      </td>
    </tr>
  );
}
