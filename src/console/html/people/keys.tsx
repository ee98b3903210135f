import type { CreatedApiKey, ListedApiKey } from '../../../account/api-key/api-key.ts'
import { createApiKey, findApiKey, listApiKeys, revokeApiKey } from '../../../account/api-key/api-key.ts'
import { requireScope, roleIncludes } from '../../../core/access.ts'
import { DAY } from '../../../core/time.ts'
import { nameText } from '../../../core/validation.ts'
import type { ApiKey } from '../../../generated/prisma/client.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { CheckboxField, emptyForm, FormProblem, InputField, SelectField, textRules } from '../../../http/page/form.tsx'
import { Table } from '../../../http/page/table.tsx'
import type { Member } from '../../../people/membership.ts'
import { membersOf } from '../../../people/membership.ts'
import { roleNames } from '../../../people/role.ts'
import { Time } from '../../../status-page/html/time.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { ShownOnce } from '../frame/shown-once.tsx'

const scopes = [
  { value: 'READ', text: 'Read' },
  { value: 'WRITE', text: 'Read and write' },
  { value: 'ADMIN', text: 'Admin' },
] as const
const lifetimes = [
  { value: '', text: 'Never' },
  { value: '30', text: 'In 30 days' },
  { value: '90', text: 'In 90 days' },
  { value: '365', text: 'In a year' },
] as const

/** The maximum number of keys shown. */
const MAX_KEYS = 200

/** Adds the screens of API keys. */
export function keyScreens({ form }: Screens): void {
  form('keys', showKeys, async (screen, { fields }) => {
    const { ctx } = screen
    const days = Number(fields.get('expiresAt') || Number.NaN)
    const expiresAt = Number.isFinite(days) ? new Date(ctx.now().getTime() + days * DAY) : null
    const created = await createApiKey(ctx, { name: fields.get('name'), scope: fields.get('scope'), expiresAt })
    return showKeys(screen, emptyForm, created)
  })
  form('keys/:id/revoke', showRevocation, async ({ c, ctx }, { fields }) => {
    await revokeApiKey(ctx, c.req.param('id') ?? '', { force: fields.has('force') })
    return 'keys'
  })
}

async function showKeys(screen: Screen, state: FormState, created: CreatedApiKey | null = null): Promise<Response> {
  const { ctx } = screen
  const organizationId = requireScope(ctx, 'ADMIN')
  const [keys, members] = await Promise.all([listApiKeys(ctx, organizationId, MAX_KEYS), membersOf(ctx)])
  const content = (
    <>
      {created === null ? null : (
        <section>
          <h2>Copy the key now</h2>
          <p>It is shown only once.</p>
          <ShownOnce text={created.secret} about="the key" />
        </section>
      )}
      {keys.length === 0 ? null : <KeyTable {...{ screen, keys, members }} />}
      <section>
        <h2>New key</h2>
        <form method="post" class="stack" id="new-key">
          <FormProblem state={state} fields={['name', 'scope', 'expiresAt']} />
          <InputField label="Name" name="name" state={state} {...textRules(nameText)} hint="What it is for." />
          <SelectField label="Scope" name="scope" state={state} value="READ" choices={scopes} />
          <SelectField label="Expires" name="expiresAt" state={state} value="" choices={lifetimes} />
          <p class="actions">
            <button type="submit">Create key</button>
          </p>
        </form>
      </section>
    </>
  )
  return screen.show({ title: 'API keys', section: 'keys', content }, state)
}

function KeyTable({
  screen,
  keys,
  members,
}: {
  readonly screen: Screen
  readonly keys: readonly ListedApiKey[]
  readonly members: readonly Member[]
}) {
  return (
    <Table label="API keys" heads={['Name', 'Scope', 'Begins with', 'Created by', 'Last used', 'State']}>
      {keys.map((key) => (
        <tr id={key.id}>
          <td>{key.name}</td>
          <td>{key.scope}</td>
          <td>
            <code>{key.prefix}</code>
          </td>
          <td>
            <Creator {...{ value: key, members }} />
          </td>
          <td>{key.lastUsedAt === null ? 'Never' : <Time at={key.lastUsedAt} zone={screen.zone} />}</td>
          <td>
            <KeyState {...{ screen, value: key }} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** The person who created a key, and whether the key now allows more than the person may do. */
function Creator({
  value: { createdBy, scope, revokedAt },
  members,
}: {
  readonly value: ListedApiKey
  readonly members: readonly Member[]
}) {
  if (createdBy === null) return <>–</>
  const member = members.find(({ user }) => user.id === createdBy.id)
  const isKept = revokedAt === null && (member === undefined || !roleIncludes(member.role, scope))
  if (!isKept) return <>{createdBy.name}</>
  return (
    <>
      {createdBy.name}{' '}
      <strong>({member === undefined ? 'no longer a member' : `now ${roleNames[member.role]}`})</strong>
    </>
  )
}

function KeyState({
  screen,
  value: { id, name, revokedAt, expiresAt },
}: {
  readonly screen: Screen
  readonly value: ApiKey
}) {
  if (revokedAt !== null) return <>Revoked</>
  const isExpired = expiresAt !== null && expiresAt <= screen.ctx.now()
  if (isExpired) return <>Expired</>
  return (
    <>
      {expiresAt === null ? null : (
        <>
          Until <Time at={expiresAt} zone={screen.zone} /> ·{' '}
        </>
      )}
      <a href={screen.path(`keys/${id}/revoke`)} aria-label={`Revoke ${name}`}>
        Revoke
      </a>
    </>
  )
}

async function showRevocation(screen: Screen, state: FormState): Promise<Response> {
  const { c, ctx } = screen
  const organizationId = requireScope(ctx, 'ADMIN')
  const key = await findApiKey(ctx, organizationId, c.req.param('id') ?? '')
  if (key.revokedAt !== null) {
    const content = (
      <p>
        It was revoked <Time at={key.revokedAt} zone={screen.zone} />. <a href={screen.path('keys')}>API keys</a>
      </p>
    )
    return screen.show({ title: key.name, section: 'keys', content }, state)
  }
  const content = (
    <form method="post" class="stack">
      <p>Programs with the key {key.prefix}… stop working at once. This cannot be undone.</p>
      <FormProblem state={state} />
      {state.problem?.code === 'CONFLICT' ? (
        <CheckboxField label="Revoke the last admin key" name="force" state={state} />
      ) : null}
      <p class="actions">
        <button type="submit" class="danger">
          Revoke
        </button>{' '}
        <a href={screen.path('keys')}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: `Revoke ${key.name}`, section: 'keys', content }, state)
}
