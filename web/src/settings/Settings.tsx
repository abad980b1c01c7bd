import { useTitle } from "../shell/Shell";

export default function Settings() {
  useTitle("Settings");
  return (
    <div className="page">
      <h1>Settings</h1>
    </div>
  );
}
