import { useTitle } from "../shell/Shell";

export default function History() {
  useTitle("History");
  return (
    <div className="page">
      <h1>History</h1>
    </div>
  );
}
