import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { root } from '../../src/core/process/paths.ts'
import type { AccountState, Entry, Outcome } from '../../src/people/account-entry.ts'
import { outcomeOf } from '../../src/people/account-entry.ts'

const states = ['NONE', 'UNPROVEN', 'PROVEN'] as const satisfies readonly AccountState[]

/** Every way to an account, and what happens without an account, with an unproven and with a proven one. */
const table: Readonly<Record<Entry, readonly [what: string, none: string, unproven: string, proven: string]>> = {
  SETUP: ['the setup link, or `ADMIN_TOKEN`', 'unproven', '–', '–'],
  CREDENTIAL: ['a password, a passkey, a connected account', '–', 'unproven', 'proven'],
  SHOWN_INVITATION: ['the invitation link that the inviter sees', 'unproven', 'must sign in', 'must sign in'],
  MAILED_INVITATION: ['the invitation link in the email', 'proven', 'proven; drops everything', 'must sign in'],
  CREDENTIAL_AND_SHOWN_INVITATION: [
    'the inviter’s link, signed in to the account',
    '–',
    'unproven; drops everything',
    'proven',
  ],
  CREDENTIAL_AND_MAILED_INVITATION: [
    'the emailed link, signed in to the account',
    '–',
    'proven; drops everything',
    'proven',
  ],
  SHOWN_PASSWORD_LINK: [
    'the operator’s link for a new password',
    '–',
    'unproven; drops everything',
    'unproven; drops sessions',
  ],
  MAILED_PASSWORD_LINK: [
    'the emailed link for a new password',
    '–',
    'proven; drops everything',
    'proven; drops sessions',
  ],
  MAILED_SIGN_IN_LINK: ['the emailed link to sign in', '–', 'proven; drops everything', 'proven'],
  MAILED_SIGN_UP_LINK: ['the emailed link to sign up', 'proven', 'proven; drops everything', '–'],
  PROVIDER_ADDRESS: [
    'a provider’s word for an address of `OIDC_MAIL_DOMAINS`',
    'proven',
    'proven; drops everything',
    'must sign in',
  ],
  CREDENTIAL_AND_PROVIDER_ADDRESS: [
    'the same, with the connected account, or signed in',
    '–',
    'proven; drops everything',
    'proven',
  ],
  OTHER_PROVIDER_ADDRESS: ['a provider’s word for another address', '–', 'must sign in', 'must sign in'],
}
const entries = Object.keys(table) as Entry[]

function textOf(outcome: Outcome): string {
  if (outcome.kind === 'refused') return '–'
  if (outcome.kind === 'asksForCredential') return 'must sign in'
  const { state, drops } = outcome
  return `${state.toLowerCase()}${drops === 'NOTHING' ? '' : `; drops ${drops.toLowerCase()}`}`
}

test.each(entries.flatMap((entry) => states.map((state) => [entry, state] as const)))('%s: %s', (entry, state) => {
  expect(textOf(outcomeOf(entry, state))).toBe(table[entry][states.indexOf(state) + 1])
})

test('only email and a provider prove an address, and the first proof drops everything that was there before', () => {
  for (const entry of entries) {
    const outcome = outcomeOf(entry, 'UNPROVEN')
    if (outcome.kind !== 'enters' || outcome.state === 'UNPROVEN') continue
    expect(entry).toMatch(/MAILED|PROVIDER/)
    expect(outcome.drops).toBe('EVERYTHING')
  }
})

test('an entry without a credential never leaves others access to an unproven account', () => {
  for (const entry of entries.filter((each) => !each.startsWith('CREDENTIAL'))) {
    const outcome = outcomeOf(entry, 'UNPROVEN')
    if (outcome.kind === 'enters') expect(outcome.drops).toBe('EVERYTHING')
  }
})

test('the guide shows this table', async () => {
  const guide = await readFile(new URL('docs/console.md', root), 'utf8')
  const rows = entries.map((entry) => `| ${table[entry].join(' | ')} |`)
  expect(guide).toContain(
    ['| way | no account | unproven account | proven account |', '|---|---|---|---|', ...rows].join('\n'),
  )
})
