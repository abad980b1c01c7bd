//! Which models the operator has set for the tiers.

use plenary_domain::agent::Tier;

/// Models by tier, as they were written; the others are chosen by their names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tiers {
    pub fast: Option<String>,
    pub balanced: Option<String>,
    pub strong: Option<String>,
}

impl Tiers {
    pub fn of(&self, tier: Tier) -> Option<&str> {
        match tier {
            Tier::Fast => self.fast.as_deref(),
            Tier::Balanced => self.balanced.as_deref(),
            Tier::Strong => self.strong.as_deref(),
        }
    }
}

/// Where a tier is set, in words.
pub fn setting(tier: Tier) -> String {
    let name = tier.name();
    format!("`{name}` in [tiers], or PLENARY_TIERS__{}", name.to_uppercase())
}
