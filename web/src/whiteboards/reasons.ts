// The server's reasons name posts and challenges by their ids; people know titles.

const TITLE_SHOWN = 60;

/** `Ada/a1 of ben/1 is not settled` → `Ada’s challenge to “Use mdBook” is not settled.` */
export function inWords(reason: string, titles: ReadonlyMap<string, string>): string {
  const words = reason.split(" ").map((word) => {
    const title = titles.get(word);
    if (title !== undefined) return `“${short(title)}”`;
    const challenger = /^(.+)\/a\d+$/.exec(word)?.[1];
    return challenger === undefined ? word : `${challenger}’s challenge`;
  });
  const text = words.join(" ").replace("’s challenge of ", "’s challenge to ");
  // A reason that begins with a name keeps the name as it is written.
  const isName = !/^(no one|the) /.test(reason);
  return `${isName ? text : text.charAt(0).toUpperCase() + text.slice(1)}.`;
}

function short(title: string): string {
  return title.length <= TITLE_SHOWN ? title : `${title.slice(0, TITLE_SHOWN).trimEnd()}…`;
}
