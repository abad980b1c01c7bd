import { useState } from "react";
import { useTheme, type Theme } from "../shell/theme";
import { NOTIFY } from "../shell/waiting";
import { useStored } from "../stored";
import { Key } from "../ui/keys";
import { Segmented } from "../ui/Segmented";
import { SINGLE_KEYS } from "../ui/shortcuts";

const THEMES: readonly { name: Theme; title: string }[] = [
  { name: "system", title: "System" },
  { name: "light", title: "Light" },
  { name: "dark", title: "Dark" },
];

export function Appearance() {
  const [theme, setTheme] = useTheme();
  const [areOn, setOn] = useStored(SINGLE_KEYS, true);
  return (
    <section className="card stack" aria-labelledby="settings-look">
      <h2 id="settings-look">Appearance and shortcuts</h2>
      <div className="settings-theme">
        <Segmented label="Theme" options={THEMES} chosen={theme} onChoose={setTheme} />
      </div>
      <label className="choice">
        <input
          type="checkbox"
          checked={areOn}
          onChange={(event) => setOn(event.target.checked ? undefined : false)}
        />
        <span>
          Single-key shortcuts
          <span className="muted settings-note">
            Such as <Key of="s" /> or <Key of="?" />. Turn them off if you use dictation.{" "}
            <Key of="Mod+k" /> always works.{" "}
          </span>
        </span>
      </label>
      {"Notification" in window && <Notifications />}
    </section>
  );
}

/** The browser is asked for its consent when somebody wants them, and not before. */
function Notifications() {
  const [areOn, setOn] = useStored(NOTIFY, false);
  const [permission, setPermission] = useState(() => Notification.permission);
  const choose = async (isWanted: boolean) => {
    const answer = isWanted ? await Notification.requestPermission() : permission;
    setPermission(answer);
    setOn(isWanted && answer === "granted" ? true : undefined);
  };
  return (
    <label className="choice">
      <input
        type="checkbox"
        checked={areOn && permission === "granted"}
        onChange={(event) => void choose(event.target.checked)}
      />
      <span>
        Notifications
        <span className="muted settings-note">
          {permission === "denied"
            ? "Your browser blocks them for this page. Allow them in its site settings."
            : "When a session waits for a person while you are in another tab."}
        </span>
      </span>
    </label>
  );
}
