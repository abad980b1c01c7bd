import { useTitle } from "../shell/Shell";

export default function Library(_: { shelf: string | undefined }) {
  useTitle("Library");
  return (
    <div className="page">
      <h1>Library</h1>
    </div>
  );
}
