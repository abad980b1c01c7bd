import { useTitle } from "../shell/Shell";

export default function Councils() {
  useTitle("Councils");
  return (
    <div className="page">
      <h1>Councils</h1>
    </div>
  );
}
