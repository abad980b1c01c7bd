import { useTitle } from "../shell/Shell";

export default function Whiteboard(_: { board: string }) {
  useTitle("Whiteboard");
  return (
    <div className="page">
      <h1>Whiteboard</h1>
    </div>
  );
}
