import { useTitle } from "../shell/Shell";

export default function Discussion(_: { id: string }) {
  useTitle("Discussion");
  return (
    <div className="page">
      <h1>Discussion</h1>
    </div>
  );
}
