// The words and looks of what stands on a board, in one place.

import type { Schemas } from "../api/client";
import type { IconName } from "../ui/icons";

export type PostType = Schemas["PostType"];
export type Severity = Schemas["SeverityName"];
export type Standing = Schemas["StandingName"];
export type Finding = Schemas["FindingName"];
export type Vote = Schemas["VoteName"];
export type AnnotationType = Schemas["AnnotationType"];

type Look = "" | "good" | "bad" | "warn" | "accent";

export const POST_TYPES: readonly PostType[] = ["proposal", "claim", "concern", "informational"];

const TYPES: Record<PostType, { word: string; icon: IconName; about: string }> = {
  proposal: { word: "Proposal", icon: "flag", about: "What should be done." },
  claim: { word: "Claim", icon: "check", about: "A fact that can be checked." },
  concern: { word: "Concern", icon: "warning", about: "What could go wrong." },
  informational: { word: "Information", icon: "file", about: "What the others should know." },
};

export function typeOf(type: PostType) {
  return TYPES[type];
}

export const SEVERITIES: readonly Severity[] = ["critical", "high", "medium", "low"];

const SEVERITY_LOOKS: Record<Severity, { word: string; look: Look }> = {
  critical: { word: "Critical", look: "bad" },
  high: { word: "High", look: "warn" },
  medium: { word: "Medium", look: "" },
  low: { word: "Low", look: "" },
};

export function severityOf(severity: Severity) {
  return SEVERITY_LOOKS[severity];
}

export const STANDINGS: readonly Standing[] = ["surviving", "excluded", "withdrawn"];

const STANDING_LOOKS: Record<Standing, { word: string; look: Look; about: string }> = {
  surviving: { word: "Not refuted", look: "good", about: "No one has refuted it." },
  excluded: { word: "Excluded", look: "bad", about: "Someone refuted it." },
  withdrawn: { word: "Withdrawn", look: "", about: "Its author withdrew it." },
};

export function standingOf(standing: Standing) {
  return STANDING_LOOKS[standing];
}

export const FINDINGS: readonly Finding[] = ["confirmed", "refuted", "inconclusive"];

const FINDING_LOOKS: Record<Finding, { word: string; look: Look; about: string }> = {
  confirmed: { word: "Confirmed", look: "good", about: "You checked it, and it holds." },
  refuted: { word: "Refuted", look: "bad", about: "It does not hold. This excludes the post." },
  inconclusive: { word: "Inconclusive", look: "warn", about: "The check was inconclusive." },
};

export function findingOf(finding: Finding) {
  return FINDING_LOOKS[finding];
}

export const VOTES: readonly Vote[] = ["accept", "reject", "defer"];

const VOTE_LOOKS: Record<Vote, { word: string; verb: string; sign: string; look: Look }> = {
  accept: { word: "Accept", verb: "accepts", sign: "✓", look: "good" },
  reject: { word: "Reject", verb: "rejects", sign: "✕", look: "bad" },
  defer: { word: "Defer", verb: "defers", sign: "–", look: "" },
};

export function voteOf(vote: Vote) {
  return VOTE_LOOKS[vote];
}
