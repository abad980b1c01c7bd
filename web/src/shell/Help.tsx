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
          Everywhere: <Key of="Tab" /> moves the focus, <Key of="Enter" /> activates,{" "}
          <Key of="Escape" /> closes a dialog.
        </p>
        <label className="choice">
          <input
            type="checkbox"
            checked={areOn}
            onChange={(event) => setOn(event.target.checked ? undefined : false)}
          />
          <span>Use single-key shortcuts, such as S or ?</span>
        </label>
        <p className="muted small">
          Turn them off if you use dictation or press keys by accident. <Key of="Mod+k" /> always
          works. You can also change this in{" "}
          <Link href="/settings" onClick={onClose}>
            Settings
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
