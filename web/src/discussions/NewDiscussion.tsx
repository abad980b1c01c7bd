import { useTitle } from "../shell/Shell";

export default function NewDiscussion() {
  useTitle("New discussion");
  return (
    <div className="page">
      <h1>New discussion</h1>
    </div>
  );
}
