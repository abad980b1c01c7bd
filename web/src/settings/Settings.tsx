import "./settings.css";
import { useTitle } from "../shell/Shell";
import { Appearance } from "./Appearance";
import { Defaults } from "./Defaults";
import { Keys } from "./Keys";
import { Limits } from "./Limits";
import { Memory } from "./Memory";
import { Providers, Tiers } from "./Models";
import { Nodes } from "./Nodes";
import { Prices } from "./Prices";
import { Server } from "./Server";

export default function Settings() {
  useTitle("Settings");
  return (
    <div className="page settings">
      <h1>Settings</h1>
      <div className="settings-columns">
        <Keys />
        <Providers />
        <Tiers />
        <Prices />
        <Defaults />
        <Appearance />
        <Memory />
        <Limits />
        <Nodes />
        <Server />
      </div>
    </div>
  );
}
