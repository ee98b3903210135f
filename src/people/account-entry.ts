/**
 * What is known of an account’s email address. `NONE`: no account has it. `UNPROVEN`: someone has the account, but no one has shown
 * that they receive email at the address, or a provider’s word for it. `PROVEN`: the person did, and everything that now gives
 * access to the account was added then or later.
 */
export type AccountState = 'NONE' | 'UNPROVEN' | 'PROVEN'

/** A way to an account. */
export type Entry =
  /** The link that the first start prints, or `ADMIN_TOKEN`. */
  | 'SETUP'
  /** A password, a passkey or a connected account at a provider, with the second factor, if any. */
  | 'CREDENTIAL'
  /** The link that the inviter sees. */
  | 'SHOWN_INVITATION'
  /** Another link to the same invitation, which only the email has. */
  | 'MAILED_INVITATION'
  /** One of the two, by a person who is signed in to the account. */
  | 'CREDENTIAL_AND_SHOWN_INVITATION'
  | 'CREDENTIAL_AND_MAILED_INVITATION'
  /** The link for a new password that the operator sees. */
  | 'SHOWN_PASSWORD_LINK'
  | 'MAILED_PASSWORD_LINK'
  | 'MAILED_SIGN_IN_LINK'
  | 'MAILED_SIGN_UP_LINK'
  /** A provider that is trusted for the address’s domain (`OIDC_MAIL_DOMAINS`) says that the person has this very address. */
  | 'PROVIDER_ADDRESS'
  /** The same provider says so of a person whose account there is connected, or who is signed in to the account here. */
  | 'CREDENTIAL_AND_PROVIDER_ADDRESS'
  /** A provider that is not trusted for the domain says so. */
  | 'OTHER_PROVIDER_ADDRESS'

/** What happens when someone comes by an entry. */
export type Outcome =
  /** The entry leads to no account. */
  | { readonly kind: 'refused' }
  /** The person must give a credential of the account, which the entry does not replace. */
  | { readonly kind: 'asksForCredential' }
  | {
      readonly kind: 'enters'
      /** The state of the account from then on. */
      readonly state: 'UNPROVEN' | 'PROVEN'
      /**
       * What loses access. `SESSIONS`: sessions and links. `EVERYTHING`: also the password, passkeys, the second factor, connected
       * accounts and known browsers, because whoever added them has not shown that the address is theirs.
       */
      readonly drops: 'NOTHING' | 'SESSIONS' | 'EVERYTHING'
    }

const refused: Outcome = { kind: 'refused' }
const asksForCredential: Outcome = { kind: 'asksForCredential' }
const enters = (state: 'UNPROVEN' | 'PROVEN', drops: 'NOTHING' | 'SESSIONS' | 'EVERYTHING'): Outcome => ({
  kind: 'enters',
  state,
  drops,
})

/** The state machine of accounts: possession of a link that was shown to someone proves nothing about the address. */
const outcomes: Readonly<Record<Entry, Readonly<Record<AccountState, Outcome>>>> = {
  SETUP: { NONE: enters('UNPROVEN', 'NOTHING'), UNPROVEN: refused, PROVEN: refused },
  CREDENTIAL: { NONE: refused, UNPROVEN: enters('UNPROVEN', 'NOTHING'), PROVEN: enters('PROVEN', 'NOTHING') },
  SHOWN_INVITATION: {
    NONE: enters('UNPROVEN', 'NOTHING'),
    UNPROVEN: asksForCredential,
    PROVEN: asksForCredential,
  },
  MAILED_INVITATION: {
    NONE: enters('PROVEN', 'NOTHING'),
    UNPROVEN: enters('PROVEN', 'EVERYTHING'),
    PROVEN: asksForCredential,
  },
  CREDENTIAL_AND_SHOWN_INVITATION: {
    NONE: refused,
    UNPROVEN: enters('UNPROVEN', 'EVERYTHING'),
    PROVEN: enters('PROVEN', 'NOTHING'),
  },
  CREDENTIAL_AND_MAILED_INVITATION: {
    NONE: refused,
    UNPROVEN: enters('PROVEN', 'EVERYTHING'),
    PROVEN: enters('PROVEN', 'NOTHING'),
  },
  SHOWN_PASSWORD_LINK: {
    NONE: refused,
    UNPROVEN: enters('UNPROVEN', 'EVERYTHING'),
    PROVEN: enters('UNPROVEN', 'SESSIONS'),
  },
  MAILED_PASSWORD_LINK: {
    NONE: refused,
    UNPROVEN: enters('PROVEN', 'EVERYTHING'),
    PROVEN: enters('PROVEN', 'SESSIONS'),
  },
  MAILED_SIGN_IN_LINK: {
    NONE: refused,
    UNPROVEN: enters('PROVEN', 'EVERYTHING'),
    PROVEN: enters('PROVEN', 'NOTHING'),
  },
  MAILED_SIGN_UP_LINK: {
    NONE: enters('PROVEN', 'NOTHING'),
    UNPROVEN: enters('PROVEN', 'EVERYTHING'),
    PROVEN: refused,
  },
  PROVIDER_ADDRESS: {
    NONE: enters('PROVEN', 'NOTHING'),
    UNPROVEN: enters('PROVEN', 'EVERYTHING'),
    PROVEN: asksForCredential,
  },
  CREDENTIAL_AND_PROVIDER_ADDRESS: {
    NONE: refused,
    UNPROVEN: enters('PROVEN', 'EVERYTHING'),
    PROVEN: enters('PROVEN', 'NOTHING'),
  },
  OTHER_PROVIDER_ADDRESS: { NONE: refused, UNPROVEN: asksForCredential, PROVEN: asksForCredential },
}

/** Returns what happens to an account when someone comes by an entry. */
export function outcomeOf(entry: Entry, state: AccountState): Outcome {
  return outcomes[entry][state]
}

/** Returns whether everything that gave access to an account loses it when someone comes by an entry. */
export function dropsEverything(entry: Entry, state: AccountState): boolean {
  const outcome = outcomeOf(entry, state)
  return outcome.kind === 'enters' && outcome.drops === 'EVERYTHING'
}
