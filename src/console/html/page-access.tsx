import type { Page } from '../../account/page.ts'
import { readPage } from '../../account/page.ts'
import { requireScope } from '../../core/access.ts'
import { NotFound } from '../../core/errors.ts'
import { typeOfId } from '../../core/id.ts'
import { nameText } from '../../core/validation.ts'
import type { FormState } from '../../http/form.tsx'
import { emptyForm, FormProblem, InputField, SelectField, TextField, textRules } from '../../http/form.tsx'
import type { CreatedPageToken } from '../../people/page-access.ts'
import {
  createPageToken,
  pageTokens,
  readPageAccess,
  revokePageToken,
  updatePageAccess,
} from '../../people/page-access.ts'
import { Time } from '../../status-page/html/time.tsx'
import { ConfirmDeletion } from './edit-fields.tsx'
import { idIn } from './incident.tsx'
import type { Screen, Screens } from './screen.tsx'
import { Table } from './table.tsx'

const kinds = [
  { value: 'PUBLIC', text: 'Everybody' },
  { value: 'PASSWORD', text: 'Whoever knows the password' },
  { value: 'MEMBERS', text: 'Members of the organization' },
  { value: 'MAIL_DOMAIN', text: 'Mail addresses of allowed domains' },
  { value: 'ADDRESSES', text: 'Allowed networks' },
] as const

const FIELDS = ['access.kind', 'access.password', 'access.mailDomains', 'access.ranges']

/** Adds the screens of who may read a page, and of its read tokens. */
export function pageAccessScreens({ form }: Screens): void {
  form('pages/:id/access', showAccess, async (screen, { fields }) => {
    const page = await pageIn(screen)
    const access = {
      kind: fields.get('access.kind'),
      password: fields.get('access.password') || null,
      mailDomains: listIn(fields, 'access.mailDomains'),
      ranges: listIn(fields, 'access.ranges'),
    }
    await updatePageAccess(screen.ctx, { pageId: page.id, access })
    return `pages/${page.id}/access`
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

/** Reads the page in the address. @throws NotFound when the organization has no such page. */
async function pageIn(screen: Screen): Promise<Page> {
  const { ctx } = screen
  const organizationId = requireScope(ctx, 'ADMIN')
  const id = idIn(screen)
  const page = typeOfId(id) === 'StatusPage' ? await readPage(ctx.db, 'id', id) : null
  if (page?.organizationId !== organizationId) throw new NotFound('Page not found.')
  return page
}

async function tokenIn(screen: Screen) {
  const page = await pageIn(screen)
  const id = screen.c.req.param('tokenId') ?? ''
  const token = (await pageTokens(screen.ctx, page.id)).find((each) => each.id === id)
  if (token === undefined) throw new NotFound('Read token not found.')
  return { page, token }
}

/** Returns what stands between spaces, commas and line ends; absent: undefined. */
const listIn = (fields: URLSearchParams, name: string): string[] | undefined =>
  fields
    .get(name)
    ?.split(/[\s,]+/)
    .filter((each) => each !== '')

async function showAccess(screen: Screen, state: FormState): Promise<Response> {
  const page = await pageIn(screen)
  const { kind, mailDomains, ranges } = await readPageAccess(screen.ctx, page.id)
  const content = (
    <form method="post" class="stack" id="access">
      <FormProblem state={state} fields={FIELDS} />
      <SelectField label="Who may read it" name="access.kind" state={state} value={kind} choices={kinds} />
      <InputField
        label="Password"
        name="access.password"
        type="password"
        state={state}
        autocomplete="new-password"
        maxlength={200}
        hint={kind === 'PASSWORD' ? 'Empty: it stays.' : 'At least 8 characters.'}
      />
      <TextField
        label="Mail domains"
        name="access.mailDomains"
        state={state}
        value={mailDomains.join('\n')}
        rows={3}
        placeholder="example.com"
        hint="One a line. Subdomains are others."
      />
      <TextField
        label="Networks"
        name="access.ranges"
        state={state}
        value={ranges.join('\n')}
        rows={3}
        placeholder="192.0.2.0/24"
        hint="One a line, IPv4 or IPv6."
      />
      <p>A change closes the page for all who have opened it.</p>
      <p class="actions">
        <button type="submit">Save</button>
      </p>
    </form>
  )
  const actions = (
    <>
      <a href={screen.path(`pages/${page.id}/tokens`)}>Read tokens</a> <a href={`/status/${page.slug}`}>View page</a>
    </>
  )
  return screen.show({ title: `Access to ${page.name}`, section: 'page', content, actions }, state)
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
          <p>It is shown only here.</p>
          <p class="secret">{created.secret}</p>
        </section>
      )}
      {tokens.length === 0 ? (
        <p>None yet. With a read token, a program reads the page while it is private.</p>
      ) : (
        <Table heads={['Name', 'Last used', 'Action']}>
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
