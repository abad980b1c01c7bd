// Where every page is. Each noun is loaded when it is first looked at.

import { lazy } from "react";
import { Link, Redirect, Route, Switch } from "wouter";
import { Shell, useTitle } from "./shell/Shell";
import { Empty } from "./ui/Empty";

const Home = lazy(() => import("./home/Home"));
const Boardrooms = lazy(() => import("./boardrooms/Boardrooms"));
const Boardroom = lazy(() => import("./boardrooms/Boardroom"));
const Discussions = lazy(() => import("./discussions/Discussions"));
const NewDiscussion = lazy(() => import("./discussions/NewDiscussion"));
const Discussion = lazy(() => import("./discussions/Discussion"));
const Whiteboards = lazy(() => import("./whiteboards/Whiteboards"));
const Whiteboard = lazy(() => import("./whiteboards/Whiteboard"));
const Councils = lazy(() => import("./councils/Councils"));
const Council = lazy(() => import("./councils/Council"));
const Workflows = lazy(() => import("./workflows/Workflows"));
const Editor = lazy(() => import("./workflows/Editor"));
const Run = lazy(() => import("./runs/Run"));
const History = lazy(() => import("./history/History"));
const Library = lazy(() => import("./library/Library"));
const Settings = lazy(() => import("./settings/Settings"));

export function App() {
  return (
    <Shell>
      <Switch>
        <Route path="/" component={Home} />
        <Route path="/boardrooms" component={Boardrooms} />
        <Route path="/boardrooms/:id">{({ id }) => <Boardroom key={id} id={id} />}</Route>
        <Route path="/discussions" component={Discussions} />
        <Route path="/discussions/new" component={NewDiscussion} />
        <Route path="/discussions/:id">{({ id }) => <Discussion key={id} id={id} />}</Route>
        <Route path="/whiteboards" component={Whiteboards} />
        <Route path="/whiteboards/:board">
          {({ board }) => <Whiteboard key={board} board={board} />}
        </Route>
        <Route path="/councils" component={Councils} />
        <Route path="/councils/:council">
          {({ council }) => <Council key={council} council={council} />}
        </Route>
        <Route path="/workflows" component={Workflows} />
        <Route path="/workflows/new">
          <Editor key="" />
        </Route>
        <Route path="/workflows/:name">{({ name }) => <Editor key={name} name={name} />}</Route>
        <Route path="/runs">
          <Redirect to="/history?kind=workflow" replace />
        </Route>
        <Route path="/runs/:id">{({ id }) => <Run key={id} id={id} />}</Route>
        <Route path="/runs/:id/decide/*?">
          {({ id, "*": place }) => <Run key={id} id={id} decides={place ?? ""} />}
        </Route>
        <Route path="/history" component={History} />
        {/* An address that once was given out by mistake. */}
        <Route path="/library/useAgents">
          <Redirect to="/library/agents" replace />
        </Route>
        <Route path="/library/:shelf?/:item?">
          {({ shelf, item }) => <Library shelf={shelf} item={item} />}
        </Route>
        <Route path="/settings" component={Settings} />
        <Route component={Nowhere} />
      </Switch>
    </Shell>
  );
}

function Nowhere() {
  useTitle("Page not found");
  return (
    <div className="page">
      <h1>Page not found</h1>
      <Empty action={<Link href="/">Go to Home</Link>}>
        It may have been removed, or the address is mistyped.
      </Empty>
    </div>
  );
}
