import { NotFound } from '../../../core/errors.ts'
import { nameText } from '../../../core/validation.ts'
import type { FormState } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem, InputField, SelectField, TextField, textRules } from '../../../http/page/form.tsx'
import { Table } from '../../../http/page/table.tsx'
import { countSubscribers } from '../../../notification/subscriber/subscriber-queries.ts'
import type { CreatedPageToken, ShownAccess } from '../../../people/page-access.ts'
import {
  createPageToken,
  pageTokens,
  readPageAccess,
  revokePageToken,
  updatePageAccess,
} from '../../../people/page-access.ts'
import { Time } from '../../../status-page/html/time.tsx'
import { ConfirmDeletion, currentValue, EditProblem, readVersion, VersionField } from '../frame/edit-fields.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { ShownOnce } from '../frame/shown-once.tsx'
import { pageIn } from './page-fields.tsx'

export const accessKinds = [
  { value: 'PUBLIC', text: 'Everybody' },
  { value: 'PASSWORD', text: 'Anyone with the password' },
  { value: 'MEMBERS', text: 'Members of the organization' },
  { value: 'MAIL_DOMAIN', text: 'Email addresses of allowed domains' },
  { value: 'ADDRESSES', text: 'Allowed networks' },
] as const

/** The fields of the access, for `EditProblem`. */
export const accessFields = ['access.kind', 'access.password', 'access.mailDomains', 'access.ranges']

/** Adds the screens for the access to a page, and for its read tokens. */
export function pageAccessScreens({ form }: Screens): void {
  form('pages/:id/access', showAccess, async (screen, { fields }) => {
    const { id: pageId } = await pageIn(screen)
    await updatePageAccess(screen.ctx, { pageId, access: readAccess(fields), version: readVersion(fields) })
    return `pages/${pageId}/access`
  })
  form('pages/:id/tokens', showTokens, async (screen, { fields }) => {
    const page = await pageIn(screen)
    const created = await createPageToken(screen.ctx, { pageId: page.id, name: fields.get('name') })
    return showTokens(screen, emptyForm, created)
  })
  form('pages/:id/tokens/:tokenId/revoke', showRevocation, async (screen) => {
    const { page, token } = await tokenIn(screen)
    await revokePageToken(screen.ctx, token.id)
    return `pages/${page.id}/tokens`
  })
}

/** Reads the fields of `AccessFields`. */
export function readAccess(fields: URLSearchParams) {
  return {
    kind: fields.get('access.kind'),
    password: fields.get('access.password') || null,
    mailDomains: listIn(fields, 'access.mailDomains'),
    ranges: listIn(fields, 'access.ranges'),
  }
}

async function tokenIn(screen: Screen) {
  const page = await pageIn(screen)
  const id = screen.c.req.param('tokenId') ?? ''
  const token = (await pageTokens(screen.ctx, page.id)).find((each) => each.id === id)
  if (token === undefined) throw new NotFound('Read token not found.')
  return { page, token }
}

/** Splits a text at spaces, commas and line ends; absent: undefined. */
const listIn = (fields: URLSearchParams, name: string): string[] | undefined =>
  fields
    .get(name)
    ?.split(/[\s,]+/)
    .filter((each) => each !== '')

async function showAccess(screen: Screen, state: FormState): Promise<Response> {
  const page = await pageIn(screen)
  const [access, subscribers] = await Promise.all([
    readPageAccess(screen.ctx, page.id),
    countSubscribers(screen.ctx, page),
  ])
  const { version } = page
  const content = (
    <form method="post" class="stack" id="access">
      <EditProblem state={state} version={version} fields={accessFields} />
      <VersionField state={state} version={version} />
      <AccessFields {...{ access, version, state }} />
      <p>
        A change closes the page for everyone who has it open.
        {subscribers === 0 ? null : (
          <>
            {' '}
            <a href={screen.path(`subscribers?pageId=${page.id}`)}>
              {subscribers === 1 ? 'The subscriber stays' : `The ${subscribers} subscribers stay`}
            </a>{' '}
            but get messages <a href="/docs/private-pages#subscribers">without contents</a> unless they may still read
            it.
          </>
        )}
      </p>
      <p class="actions">
        <button type="submit">Save</button>
      </p>
    </form>
  )
  const actions = (
    <>
      <a href={screen.path(page.isFirst ? 'page' : `pages/${page.id}`)}>Settings</a>{' '}
      <a href={screen.path(`pages/${page.id}/tokens`)}>Read tokens</a> <a href={`/status/${page.slug}`}>View page</a>
    </>
  )
  return screen.show({ title: `Access to ${page.name}`, section: 'page', content, actions }, state)
}

/**
 * Renders the fields for the access to a page.
 * @param version of the page; 0: it is new.
 */
export function AccessFields({
  access: { kind, mailDomains, ranges },
  version,
  state,
}: {
  readonly access: ShownAccess
  readonly version: number
  readonly state: FormState
}) {
  const [domains, networks] = [mailDomains.join('\n'), ranges.join('\n')]
  const now = (name: string, value: string, hint: string) => currentValue(state, version, { name, value, hint })
  return (
    <>
      <SelectField
        label="Who may read it"
        name="access.kind"
        state={state}
        value={kind}
        choices={accessKinds}
        hint={currentValue(state, version, {
          name: 'access.kind',
          value: kind,
          shown: accessKinds.find(({ value }) => value === kind)?.text,
        })}
      />
      <InputField
        label="Password"
        name="access.password"
        type="password"
        state={state}
        autocomplete="new-password"
        maxlength={200}
        hint={`${kind === 'PASSWORD' ? 'Empty: it stays the same.' : 'At least 8 characters.'}${
          state.problem !== null && state.fields.has('access.password') ? ' Type it again.' : ''
        }`}
      />
      <TextField
        label="Mail domains"
        name="access.mailDomains"
        state={state}
        value={domains}
        rows={3}
        placeholder="example.com"
        hint={now('access.mailDomains', domains, 'One per line. Subdomains are not included.')}
      />
      <TextField
        label="Networks"
        name="access.ranges"
        state={state}
        value={networks}
        rows={3}
        placeholder="192.0.2.0/24"
        hint={now('access.ranges', networks, 'One per line, IPv4 or IPv6.')}
      />
    </>
  )
}

async function showTokens(
  screen: Screen,
  state: FormState,
  created: CreatedPageToken | null = null,
): Promise<Response> {
  const page = await pageIn(screen)
  const tokens = await pageTokens(screen.ctx, page.id)
  const content = (
    <>
      {created === null ? null : (
        <section>
          <h2>Copy the token now</h2>
          <p>It is shown only once.</p>
          <ShownOnce text={created.secret} about="the token" />
        </section>
      )}
      {tokens.length === 0 ? (
        <p>None yet. A read token lets a program read the page while it is private.</p>
      ) : (
        <Table label="Access tokens" heads={['Name', 'Last used', 'Action']}>
          {tokens.map(({ id, name, lastUsedAt }) => (
            <tr id={id}>
              <td>{name}</td>
              <td>{lastUsedAt === null ? 'Never' : <Time at={lastUsedAt} zone={screen.zone} />}</td>
              <td>
                <a href={screen.path(`pages/${page.id}/tokens/${id}/revoke`)} aria-label={`Revoke ${name}`}>
                  Revoke
                </a>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <section>
        <h2>New token</h2>
        <form method="post" class="stack" id="new-token">
          <FormProblem state={state} fields={['name']} />
          <InputField label="Name" name="name" state={state} {...textRules(nameText)} hint="What it is for." />
          <p class="actions">
            <button type="submit">Create token</button>
          </p>
        </form>
      </section>
    </>
  )
  const access = <a href={screen.path(`pages/${page.id}/access`)}>Access</a>
  return screen.show({ title: `Read tokens of ${page.name}`, section: 'page', content, actions: access }, state)
}

async function showRevocation(screen: Screen, state: FormState): Promise<Response> {
  const { page, token } = await tokenIn(screen)
  const content = (
    <ConfirmDeletion state={state} what={token.name} back={screen.path(`pages/${page.id}/tokens`)} label="Revoke">
      <p>Programs with this token can no longer read the page. This cannot be undone.</p>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Revoke this token?', section: 'page', content }, state)
}
