/* Commands of LaTeX and their characters. */

const pairs = (text) =>
  Object.fromEntries(
    text
      .trim()
      .split(/\s+/)
      .map((pair) => pair.split(":")),
  );

export const SYMBOLS = {
  ...pairs(
    "alpha:α beta:β gamma:γ delta:δ epsilon:ϵ varepsilon:ε zeta:ζ eta:η theta:θ vartheta:ϑ iota:ι kappa:κ lambda:λ " +
      "mu:μ nu:ν xi:ξ pi:π rho:ρ sigma:σ tau:τ upsilon:υ phi:ϕ varphi:φ chi:χ psi:ψ omega:ω Gamma:Γ Delta:Δ " +
      "Theta:Θ Lambda:Λ Xi:Ξ Pi:Π Sigma:Σ Phi:Φ Psi:Ψ Omega:Ω infty:∞ partial:∂ nabla:∇ ell:ℓ hbar:ℏ Re:ℜ Im:ℑ",
  ),
  ...pairs(
    "times:× cdot:· cdots:⋯ ldots:… dots:… vdots:⋮ ddots:⋱ pm:± mp:∓ div:÷ ast:∗ star:⋆ circ:∘ oplus:⊕ otimes:⊗ odot:⊙ " +
      "le:≤ leq:≤ ge:≥ geq:≥ ne:≠ neq:≠ approx:≈ equiv:≡ sim:∼ simeq:≃ cong:≅ propto:∝ ll:≪ gg:≫ in:∈ notin:∉ ni:∋ " +
      "subset:⊂ subseteq:⊆ supset:⊃ supseteq:⊇ cup:∪ cap:∩ setminus:∖ emptyset:∅ varnothing:∅ forall:∀ exists:∃ neg:¬ " +
      "land:∧ wedge:∧ lor:∨ vee:∨ to:→ rightarrow:→ leftarrow:← Rightarrow:⇒ Leftarrow:⇐ implies:⟹ iff:⟺ mapsto:↦ " +
      "leftrightarrow:↔ uparrow:↑ downarrow:↓ mid:∣ parallel:∥ perp:⊥ angle:∠ langle:⟨ rangle:⟩ lfloor:⌊ rfloor:⌋ " +
      "lceil:⌈ rceil:⌉ lVert:‖ rVert:‖ vert:| Vert:‖ prime:′ dagger:† top:⊤ bot:⊥ models:⊨ vdash:⊢",
  ),
  "{": "{",
  "}": "}",
  "|": "‖",
};
export const LARGE = pairs(
  "sum:∑ prod:∏ coprod:∐ int:∫ iint:∬ oint:∮ bigcup:⋃ bigcap:⋂ bigoplus:⨁ bigwedge:⋀ bigvee:⋁",
);
export const ACCENTS = pairs("hat:^ widehat:^ bar:¯ overline:¯ vec:→ tilde:~ widetilde:~ dot:˙ ddot:¨");
export const STYLES = pairs(
  "mathbf:bold boldsymbol:bold mathrm:normal mathit:italic mathbb:double-struck mathcal:script mathscr:script mathfrak:fraktur mathsf:sans-serif mathtt:monospace",
);
export const SPACES = {
  ",": "0.17em",
  ":": "0.22em",
  ";": "0.28em",
  "!": "0em",
  " ": "0.28em",
  quad: "1em",
  qquad: "2em",
};
export const FUNCTIONS = new Set(
  "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan log ln lg exp min max sup inf lim arg argmin argmax det dim gcd ker Pr mod".split(
    " ",
  ),
);
