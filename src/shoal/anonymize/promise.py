"""What a release under a policy promises."""

from shoal.anonymize.policy import Policy
from shoal.privacy import KAnonymity

__all__ = ["guarantee_of"]


def guarantee_of(policy: Policy) -> KAnonymity:
    """What a release under a policy promises: of several rules the weakest.

    Examples
    --------
    >>> policy = Policy.of({"version": 1, "privacy": {"k": 5}, "attributes": {
    ...     "sex": {"role": "quasi", "hierarchy": {"tree": {"*": ["F", "M"]}}}}})
    >>> guarantee_of(policy)
    KAnonymity(k=5)
    """
    rules = [policy.attributes[name] for name in policy.names("sensitive")]
    least = [of.l.value for of in rules if of.l]
    far = [of.t.value for of in rules if of.t]
    return KAnonymity(
        policy.privacy.k,
        policy.privacy.entity,
        int(min(least)) if least else None,
        max(far) if far else None,
    )
