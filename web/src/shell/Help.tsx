import { Link } from "wouter";
import { useStored } from "../stored";
import { Dialog } from "../ui/Dialog";
import { Key } from "../ui/keys";
import { SINGLE_KEYS, useAllShortcuts, type Shortcut } from "../ui/shortcuts";

/** Every shortcut that is in force on the page behind it. */
export function Help({ onClose }: { onClose: () => void }) {
  const all = useAllShortcuts();
  const [areOn, setOn] = useStored(SINGLE_KEYS, true);
  // Whoever names a key last has it.
  const inForce = all.filter(
    (one, index) => !all.slice(index + 1).some((later) => later.key === one.key),
  );
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div className="stack">
        <Keys shortcuts={inForce} areOn={areOn} />
        <p className="muted small">
          Everywhere: <Key of="Tab" /> moves on, <Key of="Enter" /> presses, <Key of="Escape" />{" "}
          closes a dialog.
        </p>
        <label className="choice">
          <input
            type="checkbox"
            checked={areOn}
            onChange={(event) => setOn(event.target.checked ? undefined : false)}
          />
          <span>Use single keys, like S or ?</span>
        </label>
        <p className="muted small">
          Switch them off if you dictate, or press keys by accident. <Key of="Mod+k" /> works all
          the same, and this is also in the{" "}
          <Link href="/settings" onClick={onClose}>
            settings
          </Link>
          .
        </p>
      </div>
    </Dialog>
  );
}

function Keys({ shortcuts, areOn }: { shortcuts: readonly Shortcut[]; areOn: boolean }) {
  return (
    <dl className="keys">
      {shortcuts.map((one) => {
        const isOff = !areOn && !one.key.startsWith("Mod+");
        return (
          <div key={one.key} className={isOff ? "off" : undefined}>
            <dt>
              {one.label}
              {isOff && <span className="muted"> (off)</span>}
            </dt>
            <dd>
              <Key of={one.key} />
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
