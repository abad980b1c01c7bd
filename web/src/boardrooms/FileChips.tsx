import { IconButton } from "../ui/Button";
import { Icon } from "../ui/icons";
import { size, sizeInWords, type TextFile } from "../ui/files";

interface Props {
  files: readonly TextFile[];
  onRemove: (file: TextFile) => void;
}

/** The files that go with a question. */
export function FileChips({ files, onRemove }: Props) {
  if (files.length === 0) return null;
  return (
    <ul className="file-chips" aria-label="Attached files">
      {files.map((file) => (
        <li key={file.name} className="chip">
          <Icon name="file" />
          <span className="chip-name">{file.name}</span>
          <span className="muted">{sizeInWords(size(file.text))}</span>
          <IconButton icon="close" label={`Remove ${file.name}`} onClick={() => onRemove(file)} />
        </li>
      ))}
    </ul>
  );
}
