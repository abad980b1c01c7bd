// A small part of TeX's mathematics as a tree of MathML. Whatever is not known, or is not
// whole, is no mathematics here: the text is then shown as it was written.

export interface MathNode {
  tag: string;
  attributes?: Readonly<Record<string, string>>;
  children: readonly MathNode[] | string;
}

/** More than this is no formula that anybody reads. */
const LONGEST = 2_000;
const DEEPEST = 40;

/** The tree of a formula; nothing where it is not understood. */
export function tex(source: string): MathNode | undefined {
  if (source.length > LONGEST || source.trim() === "") return undefined;
  try {
    const reader = new Reader(source);
    const row = reader.row(0);
    return reader.isOver() ? row : undefined;
  } catch (error) {
    if (error instanceof Unknown) return undefined;
    throw error;
  }
}

class Unknown extends Error {}

const table = (words: string): ReadonlyMap<string, string> =>
  new Map(
    words
      .trim()
      .split(/\s+/)
      .map((pair) => pair.split("=", 2) as [string, string]),
  );

const LETTERS = table(`alpha=α beta=β gamma=γ delta=δ epsilon=ϵ varepsilon=ε zeta=ζ eta=η
  theta=θ vartheta=ϑ iota=ι kappa=κ lambda=λ mu=μ nu=ν xi=ξ pi=π varpi=ϖ rho=ρ varrho=ϱ
  sigma=σ varsigma=ς tau=τ upsilon=υ phi=ϕ varphi=φ chi=χ psi=ψ omega=ω Gamma=Γ Delta=Δ
  Theta=Θ Lambda=Λ Xi=Ξ Pi=Π Sigma=Σ Upsilon=Υ Phi=Φ Psi=Ψ Omega=Ω infty=∞ ell=ℓ hbar=ℏ
  partial=∂ nabla=∇ emptyset=∅ varnothing=∅ Re=ℜ Im=ℑ aleph=ℵ top=⊤ bot=⊥`);

const OPERATORS = table(`cdot=· times=× div=÷ pm=± mp=∓ ast=∗ star=⋆ circ=∘ bullet=• oplus=⊕
  otimes=⊗ cap=∩ cup=∪ wedge=∧ land=∧ vee=∨ lor=∨ setminus=∖ neg=¬ lnot=¬ le=≤ leq=≤ ge=≥
  geq=≥ ne=≠ neq=≠ ll=≪ gg=≫ approx=≈ sim=∼ simeq=≃ cong=≅ equiv=≡ propto=∝ in=∈ notin=∉
  ni=∋ subset=⊂ subseteq=⊆ supset=⊃ supseteq=⊇ mid=∣ parallel=∥ perp=⊥ vdash=⊢ models=⊨
  to=→ rightarrow=→ leftarrow=← leftrightarrow=↔ Rightarrow=⇒ Leftarrow=⇐ Leftrightarrow=⇔
  implies=⟹ iff=⟺ longrightarrow=⟶ mapsto=↦ uparrow=↑ downarrow=↓ forall=∀ exists=∃ nexists=∄
  therefore=∴ because=∵ ldots=… dots=… cdots=⋯ vdots=⋮ ddots=⋱ colon=: prime=′ angle=∠
  triangle=△ langle=⟨ rangle=⟩ lceil=⌈ rceil=⌉ lfloor=⌊ rfloor=⌋ lvert=| rvert=| vert=|
  lVert=‖ rVert=‖ Vert=‖ lbrace={ rbrace=} backslash=\\`);

/** Written above and below their limits where there is room. */
const LARGE = table("sum=∑ prod=∏ coprod=∐ bigcup=⋃ bigcap=⋂ bigoplus=⨁ bigvee=⋁ bigwedge=⋀");
const INTEGRALS = table("int=∫ iint=∬ iiint=∭ oint=∮");
const LIMITS = new Set("lim max min sup inf limsup liminf argmax argmin Pr det gcd".split(" "));
const FUNCTIONS = new Set(
  "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp dim ker deg arg hom mod".split(
    " ",
  ),
);
const ACCENTS = table(
  "hat=^ widehat=^ bar=¯ overline=¯ vec=→ tilde=~ widetilde=~ dot=˙ ddot=¨ check=ˇ overbrace=⏞",
);
const SPACES = table(",=0.17em :=0.22em ;=0.28em !=-0.17em quad=1em qquad=2em");
const FRACTIONS = new Set(["frac", "dfrac", "tfrac", "cfrac"]);
const TEXTS = new Set(["text", "textrm", "textbf", "textit", "mathrm", "operatorname", "mbox"]);
/** Where Unicode has the letters of a face; some of them have places of their own. */
const FACES: Readonly<Record<string, { upper: number; lower?: number; own: string }>> = {
  mathbf: { upper: 0x1d400, lower: 0x1d41a, own: "" },
  boldsymbol: { upper: 0x1d400, lower: 0x1d41a, own: "" },
  mathbb: { upper: 0x1d538, lower: 0x1d552, own: "CℂHℍNℕPℙQℚRℝZℤ" },
  mathcal: { upper: 0x1d49c, own: "BℬEℰFℱHℋIℐLℒMℳRℛ" },
};
const FENCES: Readonly<Record<string, readonly [string, string]>> = {
  matrix: ["", ""],
  pmatrix: ["(", ")"],
  bmatrix: ["[", "]"],
  Bmatrix: ["{", "}"],
  vmatrix: ["|", "|"],
  Vmatrix: ["‖", "‖"],
  cases: ["{", ""],
  aligned: ["", ""],
  align: ["", ""],
  "align*": ["", ""],
  gathered: ["", ""],
};

const leaf = (tag: string, text: string, attributes?: MathNode["attributes"]): MathNode => ({
  tag,
  children: text,
  ...(attributes && { attributes }),
});
const node = (
  tag: string,
  children: readonly MathNode[],
  attributes?: MathNode["attributes"],
): MathNode => ({
  tag,
  children,
  ...(attributes && { attributes }),
});
const row = (children: readonly MathNode[]): MathNode =>
  children.length === 1 && children[0] ? children[0] : node("mrow", children);

/** Ends a row without belonging to it. */
const ENDS = /^(?:[}&]|\\\\|\\right(?![a-zA-Z])|\\end(?![a-zA-Z])|$)/;

class Reader {
  private at = 0;

  constructor(private readonly source: string) {}

  isOver(): boolean {
    this.space();
    return this.at === this.source.length;
  }

  row(depth: number): MathNode {
    if (depth > DEEPEST) throw new Unknown();
    const parts: MathNode[] = [];
    for (;;) {
      this.space();
      if (ENDS.test(this.rest())) return row(parts);
      parts.push(this.scripted(depth));
    }
  }

  /** Something with what stands above and below its line. */
  private scripted(depth: number): MathNode {
    const isBare = /^[\^_]/.test(this.rest());
    const start = this.at;
    const base = isBare ? node("mrow", []) : this.one(depth);
    const name = /^\\([a-zA-Z]+)/.exec(this.source.slice(start))?.[1] ?? "";
    const isLarge = LARGE.has(name) || LIMITS.has(name);
    let above: MathNode | undefined;
    let below: MathNode | undefined;
    const primes = this.take(/^'+/);
    if (primes !== undefined) above = leaf("mo", "′".repeat(primes.length));
    for (;;) {
      this.space();
      const mark = this.take(/^[\^_]/) ?? this.take(/^\\(?:no)?limits(?![a-zA-Z])/);
      if (mark === undefined) break;
      if (mark.startsWith("\\")) continue;
      const script = this.argument(depth);
      // Twice the same would be an error in TeX as well.
      if (mark === "^" ? above && primes === undefined : below) throw new Unknown();
      if (mark === "_") below = script;
      else above = above ? row([above, script]) : script;
    }
    if (above && below) return node(isLarge ? "munderover" : "msubsup", [base, below, above]);
    if (above) return node(isLarge ? "mover" : "msup", [base, above]);
    if (below) return node(isLarge ? "munder" : "msub", [base, below]);
    return base;
  }

  private one(depth: number): MathNode {
    const number = this.take(/^(?:\d+(?:[.,]\d+)*|\.\d+)/);
    if (number !== undefined) return leaf("mn", number);
    const letter = this.take(/^[\p{L}]/u);
    if (letter !== undefined) return leaf("mi", letter);
    if (this.rest().startsWith("{")) return this.group(depth);
    if (this.rest().startsWith("\\")) return this.command(depth);
    const sign = this.take(/^[-+*/=<>()[\]|,.;:!?~%@"°]|^[\p{Sm}]/u);
    if (sign === undefined) throw new Unknown();
    if (sign === "~") return node("mspace", [], { width: "0.33em" });
    return leaf("mo", sign === "-" ? "−" : sign === "*" ? "∗" : sign);
  }

  private command(depth: number): MathNode {
    const mark = this.take(/^\\[{}%$&#_]/);
    if (mark !== undefined) return leaf("mo", mark.slice(1));
    if (this.take(/^\\\|/) !== undefined) return leaf("mo", "‖");
    const name = this.take(/^\\(?:[a-zA-Z]+|[,:;! ])/)?.slice(1);
    if (name === undefined) throw new Unknown();
    const known =
      (LETTERS.has(name) && leaf("mi", LETTERS.get(name) ?? "")) ||
      (OPERATORS.has(name) && leaf("mo", OPERATORS.get(name) ?? "")) ||
      (LARGE.has(name) && leaf("mo", LARGE.get(name) ?? "")) ||
      (INTEGRALS.has(name) && leaf("mo", INTEGRALS.get(name) ?? "")) ||
      (LIMITS.has(name) && leaf("mo", name.replace(/^(lim|arg)(?=.)/, "$1 "), MOVES)) ||
      (FUNCTIONS.has(name) && leaf("mi", name)) ||
      ((SPACES.has(name) || name === " ") &&
        node("mspace", [], { width: SPACES.get(name) ?? "0.33em" }));
    if (known) return known;
    if (FRACTIONS.has(name)) {
      return node("mfrac", [this.argument(depth), this.argument(depth)]);
    }
    if (name === "binom") {
      const both = [this.argument(depth), this.argument(depth)];
      return row([leaf("mo", "("), node("mfrac", both, { linethickness: "0" }), leaf("mo", ")")]);
    }
    if (name === "sqrt") {
      const degree = this.take(/^\s*\[[^\][{}\\]*\]/);
      const inside = this.argument(depth);
      if (degree === undefined) return node("msqrt", [inside]);
      return node("mroot", [inside, leaf("mn", degree.trim().slice(1, -1))]);
    }
    if (TEXTS.has(name)) return leaf("mtext", this.words());
    const face = FACES[name];
    if (face) return leaf("mi", inFace(this.words(), face));
    const accent = ACCENTS.get(name);
    if (accent !== undefined) {
      return node("mover", [this.argument(depth), leaf("mo", accent)], { accent: "true" });
    }
    if (name === "underline" || name === "underbrace") {
      const sign = leaf("mo", name === "underline" ? "_" : "⏟");
      return node("munder", [this.argument(depth), sign]);
    }
    if (name === "left") return this.fenced(depth);
    if (name === "begin") return this.environment(depth);
    throw new Unknown();
  }

  /** What stands between `\left(` and `\right)`. */
  private fenced(depth: number): MathNode {
    const opened = this.fence();
    const inside = this.row(depth + 1);
    if (this.take(/^\\right(?![a-zA-Z])/) === undefined) throw new Unknown();
    return node("mrow", [...opened, inside, ...this.fence()]);
  }

  private fence(): MathNode[] {
    this.space();
    const sign = this.take(/^(?:[()[\]|/.<>]|\\[{}|]|\\[a-zA-Z]+)/);
    if (sign === undefined) throw new Unknown();
    const shown = /^\\[a-zA-Z]/.test(sign) ? OPERATORS.get(sign.slice(1)) : sign.replace("\\", "");
    if (shown === undefined) throw new Unknown();
    return shown === "." ? [] : [leaf("mo", sign === "\\|" ? "‖" : shown)];
  }

  private environment(depth: number): MathNode {
    const name = this.words();
    const fences = FENCES[name];
    if (!fences) throw new Unknown();
    const rows: MathNode[] = [];
    let cells: MathNode[] = [];
    for (;;) {
      cells.push(node("mtd", [this.row(depth + 1)]));
      if (this.take(/^&/) !== undefined) continue;
      rows.push(node("mtr", cells));
      cells = [];
      if (this.take(/^\\\\/) === undefined) break;
    }
    if (this.take(/^\\end(?![a-zA-Z])/) === undefined || this.words() !== name) throw new Unknown();
    const [open, close] = fences.map((sign) => (sign === "" ? [] : [leaf("mo", sign)]));
    return node("mrow", [...(open ?? []), node("mtable", rows), ...(close ?? [])]);
  }

  private argument(depth: number): MathNode {
    this.space();
    if (depth > DEEPEST) throw new Unknown();
    // Of `x^23` only the 2 stands above.
    const digit = this.take(/^\d/);
    return digit === undefined ? this.one(depth + 1) : leaf("mn", digit);
  }

  private group(depth: number): MathNode {
    this.at += 1;
    const inside = this.row(depth + 1);
    if (this.take(/^\}/) === undefined) throw new Unknown();
    return inside;
  }

  /** Plain words in braces, as they are. */
  private words(): string {
    const words = this.take(/^\s*(?:\{[^{}\\$]*\}|[a-zA-Z])/);
    if (words === undefined) throw new Unknown();
    return words.trim().replace(/^\{|\}$/g, "");
  }

  private space(): void {
    this.take(/^\s+/);
  }

  private rest(): string {
    return this.source.slice(this.at);
  }

  private take(what: RegExp): string | undefined {
    const found = what.exec(this.rest())?.[0];
    if (found === undefined || found === "") return undefined;
    this.at += found.length;
    return found;
  }
}

const MOVES = { movablelimits: "true", form: "prefix" };

function inFace(letters: string, { upper, lower, own }: (typeof FACES)[string]): string {
  return letters.replace(/[A-Za-z]/g, (letter) => {
    const at = own.indexOf(letter);
    if (at >= 0) return own.charAt(at + 1);
    const from = letter < "a" ? upper : lower;
    const first = letter < "a" ? "A" : "a";
    return from === undefined
      ? letter
      : String.fromCodePoint(from + letter.charCodeAt(0) - first.charCodeAt(0));
  });
}

/**
 * Where a formula stands at the beginning of a text, between which marks. A dollar is also
 * money: one opens a formula only before a sign, and closes it only after one and not before
 * a letter or a number; and words of a sentence are none.
 */
const INLINE =
  /^(?:\$(?![\s$])((?:\\[^\n]|[^\\$\n`])*?[^\s\\$`])\$(?![\p{L}\p{N}$])|\\\((.+?)\\\))/u;
const DISPLAY = /^(?:\$\$([^$`]+?)\$\$|\\\[((?:(?!\n[ \t]*\n)[^`])+?)\\\])/;
const PROSE = /\p{L}{2,}[,.;:]?\s+\p{L}{2,}/u;

export interface Formula {
  raw: string;
  tree: MathNode;
  isDisplay: boolean;
}

export function formulaAt(text: string): Formula | undefined {
  const display = DISPLAY.exec(text);
  const found = display ?? INLINE.exec(text);
  if (!found) return undefined;
  const source = found[1] ?? found[2] ?? "";
  if (/\n[ \t]*\n/.test(source)) return undefined;
  const bare = source.replace(/\\[a-zA-Z]+(?:\{[^{}]*\})?/g, " ; ");
  const tree = PROSE.test(bare) ? undefined : tex(source);
  return tree && { raw: found[0], tree, isDisplay: display !== null };
}
