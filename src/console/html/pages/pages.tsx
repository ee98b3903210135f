import { domainOfPage, listDomains } from '../../../account/custom-domain/custom-domain.ts'
import { tierLimits } from '../../../account/limits.ts'
import { countPageTokens, pageAccessKinds } from '../../../account/page/access-rows.ts'
import type { Page } from '../../../account/page/page.ts'
import { readPages } from '../../../account/page/page.ts'
import { linksOf } from '../../../account/page/page-settings.ts'
import { offeredTiers } from '../../../billing/price.ts'
import { requireScope } from '../../../core/access.ts'
import { requireVersion } from '../../../core/optimistic-lock.ts'
import type { Organization } from '../../../generated/prisma/client.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import { emptyForm, FormProblem } from '../../../http/page/form.tsx'
import { Table } from '../../../http/page/table.tsx'
import { countByPage, countOfPage } from '../../../notification/subscriber/subscriber-queries.ts'
import type { ShownAccess } from '../../../people/page-access.ts'
import { createPage, deletePage, updatePage } from '../../../status/page/page.ts'
import type { PageDraft } from '../../../status-page/html/rendered-page.tsx'
import { ConfirmDeletion, EditProblem, PreviewButton, readVersion, VersionField } from '../frame/edit-fields.tsx'
import { LockedFields, ManagedNote, readLock, withoutLocked } from '../frame/managed.tsx'
import type { Screen, Screens } from '../frame/screen.tsx'
import { isDraft, readServiceNames } from '../services/service-fields.tsx'
import { AccessFields, accessFields, accessKinds, readAccess } from './page-access.tsx'
import { DomainSection, domainForms, domainStates } from './page-domain.tsx'
import {
  NameFields,
  PageFields,
  pageFields,
  pageIn,
  readLogoFile,
  readPageFields,
  readShownServices,
  ShownServices,
} from './page-fields.tsx'
import { preview, readDraft, sendPreview } from './page-preview.tsx'

/** Adds the list of pages, and the screens that create, edit and delete all but the first. */
export function pageListScreens(screens: Screens): void {
  const { get, form, draft } = screens
  get('pages', showList)
  form('pages/new', showNew, async (screen, { fields }) => {
    if (isDraft(fields)) return showNew(screen, { fields, problem: null })
    const { id } = await createPage(screen.ctx, {
      name: fields.get('name'),
      slug: fields.get('slug'),
      serviceIds: readShownServices(fields, null),
      access: fields.has('access.kind') ? readAccess(fields) : undefined,
    })
    return `pages/${id}`
  })
  form('pages/:id', showPage, submitPage)
  draft('pages/:id/preview', async (screen, sent) => sendPreview(screen, sent, await pageIn(screen)), showPage)
  domainForms(screens, 'pages/:id', pageIn, showPage)
  form('pages/:id/delete', showDeletion, async (screen) => {
    const { id } = await pageIn(screen)
    await deletePage(screen.ctx, id)
    return 'pages'
  })
}

/** Returns the address of the settings of a page. */
const pathOf = ({ id, isFirst }: Pick<Page, 'id' | 'isFirst'>) => (isFirst ? 'page' : `pages/${id}`)

async function showList(screen: Screen): Promise<Response> {
  const { ctx, organization } = screen
  const organizationId = requireScope(ctx, 'ADMIN')
  const [pages, domains, accesses, subscribers] = await Promise.all([
    readPages(ctx.db, 'organizationId', [organizationId], { withDeleted: true }),
    listDomains(ctx, organizationId),
    pageAccessKinds(ctx, organizationId),
    countByPage(ctx, organizationId),
  ])
  const limit = tierLimits[organization.tier].pages
  const isFull = pages.length >= limit
  const content = (
    <>
      <p class={isFull ? 'lead' : 'hint'}>
        {pages.length} of {limit} {limit === 1 ? 'page' : 'pages'} on this plan.
        {isFull ? (
          <>
            {' '}
            {offeredTiers(ctx.config, organization.tier).length === 0 ? (
              'The operator of this service can raise it.'
            ) : (
              <a href={screen.path('plan')}>See the plans</a>
            )}
          </>
        ) : null}
      </p>
      <Table label="Status pages" heads={['Page', 'Address', 'Services', 'Who may read it', 'Domain', 'Subscribers']}>
        {pages.map((page) => {
          const { id, name, slug, isFirst, serviceIds } = page
          const domain = domains.find(({ pageId }) => pageId === id)
          const kind = accesses.get(id) ?? 'PUBLIC'
          const readers = accessKinds.find(({ value }) => value === kind)?.text
          const count = subscribers.get(isFirst ? null : id) ?? 0
          return (
            <tr id={id}>
              <th scope="row">
                <a href={screen.path(pathOf(page))}>{name}</a>
              </th>
              <td>
                <a href={`/status/${slug}`}>/status/{slug}</a>
              </td>
              <td>{serviceIds === null ? 'All' : serviceIds.length}</td>
              <td>
                <a href={screen.path(`pages/${id}/access`)} aria-label={`${readers}: access to ${name}`}>
                  {readers}
                </a>
              </td>
              <td>{domain ? `${domain.name}: ${domainStates[domain.state]}` : '–'}</td>
              <td>
                <a href={screen.path(`subscribers?pageId=${id}`)} aria-label={`${count} subscribers of ${name}`}>
                  {count}
                </a>
              </td>
            </tr>
          )
        })}
      </Table>
    </>
  )
  const actions = isFull ? undefined : (
    <a class="button" href={screen.path('pages/new')}>
      New page
    </a>
  )
  return screen.show({ title: 'Pages', section: 'page', content, actions })
}

async function showNew(screen: Screen, state: FormState): Promise<Response> {
  requireScope(screen.ctx, 'ADMIN')
  const services = await readServiceNames(screen)
  const everybody: ShownAccess = { kind: 'PUBLIC', mailDomains: [], ranges: [] }
  const content = (
    <form method="post" class="stack" id="new-page">
      <FormProblem state={state} fields={['name', 'slug', 'shows', 'serviceIds', ...accessFields]} />
      <NameFields page={null} version={0} state={state} />
      <ShownServices {...{ services, state }} shown={null} version={0} />
      <AccessFields access={everybody} version={0} state={state} />
      <p class="actions">
        <button type="submit">Create</button> <a href={screen.path('pages')}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: 'New page', section: 'page', content }, state)
}

/** The look of an organization, which a page inherits where it has the same. */
const lookOf = (owner: Organization) => ({
  description: owner.description,
  accentColor: owner.accentColor,
  logoUrl: owner.logoUrl,
  links: linksOf(owner),
  uptimeSource: owner.uptimeSource,
})

/** The versions in the form of a page: that of the page, and that of the organization, whose look it may inherit. */
const shownVersion = (page: Page, owner: Organization) => page.version + owner.version

async function submitPage(screen: Screen, sent: SubmittedForm): Promise<string | Response> {
  const { ctx, organization } = screen
  const page = await pageIn(screen)
  if (page.isFirst) return 'page'
  if (isDraft(sent.fields)) {
    return showPage(screen, { fields: sent.fields, problem: null }, await readDraft(sent, page))
  }
  requireVersion({ version: shownVersion(page, organization) }, readVersion(sent.fields))
  const { id, version } = page
  const fields = readPageFields(sent, page)
  const owners = Object.entries(lookOf(organization))
  // Values equal to the organization's are inherited.
  const followed = owners.filter(([name, value]) => isSame(fields[name as keyof typeof fields], value))
  const look = Object.fromEntries(followed.map(([name]) => [name, null]))
  await updatePage(ctx, { id, version, ...withoutLocked({ ...fields, ...look }, sent.fields) }, readLogoFile(sent))
  return `pages/${id}`
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

async function showPage(screen: Screen, state: FormState, draft: PageDraft = {}): Promise<Response> {
  const { c, ctx, organization } = screen
  const page = await pageIn(screen)
  const { id, name, isFirst } = page
  if (isFirst) return c.redirect(screen.path('page'), 303)
  const [services, domain] = await Promise.all([readServiceNames(screen), domainOfPage(ctx, id)])
  const path = `pages/${id}`
  const version = shownVersion(page, organization)
  const isDomain = state.fields.has('domain')
  const { managed, state: settings } = await readLock(screen, id, isDomain ? emptyForm : state)
  const content = (
    <>
      <ManagedNote {...{ screen, managed }} />
      <div class="with-preview">
        <form method="post" class="stack" id="settings" enctype="multipart/form-data">
          <EditProblem state={settings} version={version} fields={pageFields} />
          <VersionField state={settings} version={version} />
          <LockedFields state={settings} />
          <p class="hint">
            Settings that are the same as those of <a href={screen.path('page')}>{organization.name}</a> change when
            those do.
          </p>
          <PageFields {...{ page, version }} owner={organization} state={settings} />
          <ShownServices {...{ services, version }} shown={page.serviceIds} state={settings} />
          <p class="actions">
            <button type="submit">Save</button>
            <PreviewButton />
          </p>
        </form>
        {await preview(screen, page, draft, `${path}/preview`)}
      </div>
      <DomainSection {...{ screen, path, domain }} version={page.version} state={isDomain ? state : emptyForm} />
      <section>
        <h2>Delete</h2>
        <p class="actions">
          <a href={screen.path(`${path}/delete`)}>Delete {name}</a>
        </p>
      </section>
    </>
  )
  const actions = (
    <>
      <a href={screen.path('pages')}>All pages</a> <a href={screen.path(`${path}/access`)}>Access</a>{' '}
      <a href={screen.path(`${path}/order`)}>Order</a> <a href={screen.path(`${path}/embed`)}>Status line</a>{' '}
      <a href={`/status/${page.slug}`}>View page</a>
    </>
  )
  return screen.show({ title: name, section: 'page', content, actions, hasForeignPictures: true }, state)
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { c, ctx } = screen
  const { id, name, slug, isFirst } = await pageIn(screen)
  if (isFirst) return c.redirect(screen.path('page'), 303)
  const [subscribers, tokens, domain] = await Promise.all([
    countOfPage(ctx, id),
    countPageTokens(ctx, id),
    domainOfPage(ctx, id),
  ])
  const lines = [
    `/status/${slug} stops working, and so do its feeds, badges and calendar.`,
    domain !== null && `${domain.name} is no longer served.`,
    subscribers > 0 && `Its ${subscribers === 1 ? 'subscriber is' : `${subscribers} subscribers are`} deleted.`,
    tokens > 0 && `Its ${tokens === 1 ? 'read token stops' : `${tokens} read tokens stop`} working.`,
    'Services, incidents and maintenance stay.',
  ]
  const content = (
    <ConfirmDeletion state={state} what={name} back={screen.path(`pages/${id}`)}>
      <ul class="consequences">
        {lines.filter(Boolean).map((line) => (
          <li>{line}</li>
        ))}
      </ul>
    </ConfirmDeletion>
  )
  return screen.show({ title: 'Delete this page?', section: 'page', content }, state)
}
