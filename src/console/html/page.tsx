import type { Child } from 'hono/jsx'
import { challengeOf, requestDomain } from '../../account/custom-domain.ts'
import { deleteOrganization } from '../../account/deletion.ts'
import type { LogoFile } from '../../account/logo.ts'
import { dataUrl, isUploaded, logoTypes, MAX_LOGO_BYTES, MAX_LOGO_PIXELS, readLogo } from '../../account/logo.ts'
import { updateOrganization } from '../../account/organization.ts'
import type { PageLink } from '../../account/page-settings.ts'
import { linksOf, validSettings } from '../../account/page-settings.ts'
import { requireScope } from '../../core/access.ts'
import { Invalid } from '../../core/errors.ts'
import type { CustomDomain, Organization } from '../../generated/prisma/client.ts'
import type { DomainState } from '../../generated/prisma/enums.ts'
import type { FormState, SubmittedForm } from '../../http/form.tsx'
import {
  CheckboxField,
  emptyForm,
  FileField,
  FormProblem,
  InputField,
  SelectField,
  TextField,
} from '../../http/form.tsx'
import { privateHeaders } from '../../people/html/frame.tsx'
import type { PageDraft } from '../../status-page/html/rendered-page.tsx'
import { renderDraft } from '../../status-page/html/rendered-page.tsx'
import { Time } from '../../status-page/html/time.tsx'
import { CurrentValue, currentValue, EditProblem, isOutdated, PreviewButton, VersionField } from './edit-fields.tsx'
import type { Screen, Screens } from './screen.tsx'

const FIELDS = [
  'name',
  'slug',
  'contactEmail',
  'timeZone',
  'description',
  'accentColor',
  'logo',
  'logoUrl',
  'uptimeSource',
  'links',
] as const
/** Links on a page at most. */
const MAX_LINKS = 10

const domainStates = {
  PENDING: 'Waiting for the proof',
  PROVEN: 'Proven',
  LOST: 'The proof is missing',
} as const satisfies Record<DomainState, string>

const uptimeSources = [
  { value: 'MONITORS', text: 'What monitors measured' },
  { value: 'INCIDENTS', text: 'Incidents only' },
]

/** Adds the settings of the status page, its domain, and the deletion of the organization. */
export function pageScreens({ form, action, draft }: Screens): void {
  form('page', showSettings, async (screen, sent) => {
    const { c, ctx, organization } = screen
    requireScope(ctx, 'ADMIN')
    if (sent.fields.has('preview')) {
      return showSettings(screen, { fields: sent.fields, problem: null }, await draftIn(sent, organization))
    }
    const { slug } = await updateOrganization(ctx, settingsIn(sent, organization), await logoIn(sent))
    // The slug is in the address of every screen.
    return c.redirect(`/console/${slug}/page`, 303)
  })
  // For the script, which shows the page while somebody types.
  draft(
    'page/preview',
    async ({ c, ctx, organization }, sent) => {
      requireScope(ctx, 'ADMIN')
      const html = await renderDraft(ctx.pages, organization.slug, await draftIn(sent, organization))
      // As text, so that opened alone it is no page.
      return c.body(html, 200, { ...privateHeaders, 'content-type': 'text/plain; charset=utf-8' })
    },
    showSettings,
  )
  action(
    'page/domain',
    async ({ ctx, organization }, { fields }) => {
      await requestDomain(ctx, { pageId: organization.pageId, domain: fields.get('domain') })
      return 'page'
    },
    showSettings,
  )
  action(
    'page/domain/remove',
    async ({ ctx }) => {
      await updateOrganization(ctx, { customDomain: null })
      return 'page'
    },
    showSettings,
  )
  form('page/delete', showDeletion, async ({ c, ctx, organization }, { fields }) => {
    await deleteOrganization(ctx, { id: organization.id, slug: fields.get('slug') })
    return c.redirect('/console', 303)
  })
}

/** Reads the settings; links without label and address are none. */
function settingsIn({ fields }: SubmittedForm, before: Organization): Record<string, unknown> {
  const labels = fields.getAll('links.label')
  const urls = fields.getAll('links.url')
  const links = labels
    .map((label, index): PageLink => ({ label: label.trim(), url: urls[index]?.trim() ?? '' }))
    .filter(({ label, url }) => label !== '' || url !== '')
  return {
    name: fields.get('name'),
    slug: fields.get('slug'),
    contactEmail: fields.get('contactEmail'),
    timeZone: fields.get('timeZone'),
    description: fields.get('description') ?? '',
    accentColor: fields.get('accentColor'),
    logoUrl: logoUrlIn(fields, before),
    uptimeSource: fields.get('uptimeSource') ?? undefined,
    links,
    version: Number(fields.get('version')),
  }
}

/** Returns the chosen file; undefined: none. @throws Invalid for one that no page may show. */
async function logoIn({ files }: SubmittedForm): Promise<LogoFile | undefined> {
  const file = files.get('logo')
  return file && readLogo(new Uint8Array(await file.arrayBuffer()))
}

/** Returns the typed address of the logo; null: none; undefined: the uploaded one, which the form shows beside, stays. */
function logoUrlIn(fields: URLSearchParams, { logoUrl }: Organization): string | null | undefined {
  if (fields.has('logoRemoved')) return null
  return fields.get('logoUrl') || (logoUrl !== null && isUploaded(logoUrl) ? undefined : null)
}

/** Returns the settings that were typed, as far as they are valid, and a chosen logo as the address of its content. */
async function draftIn(sent: SubmittedForm, organization: Organization): Promise<PageDraft> {
  const { name, description, accentColor, timeZone, logoUrl, links } = validSettings(settingsIn(sent, organization))
  const typed = { name, description, accentColor, timeZone, logoUrl, links }
  const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== undefined))
  try {
    const upload = await logoIn(sent)
    return upload ? { ...given, logoUrl: dataUrl(upload) } : given
  } catch (error) {
    // Saving says what is wrong with it.
    if (error instanceof Invalid) return given
    throw error
  }
}

async function showSettings(screen: Screen, state: FormState, draft: PageDraft = {}): Promise<Response> {
  const { ctx } = screen
  const id = requireScope(ctx, 'ADMIN')
  const [organization, domain] = await Promise.all([
    ctx.db.organization.findUniqueOrThrow({ where: { id } }),
    ctx.db.customDomain.findUnique({ where: { pageId: screen.organization.pageId } }),
  ])
  const isDomain = state.fields.has('domain')
  const content = (
    <>
      <div class="with-preview">
        <Settings organization={organization} state={isDomain ? emptyForm : state} />
        <Preview screen={screen} html={await renderDraft(ctx.pages, organization.slug, draft)} />
      </div>
      <Domain {...{ screen, domain }} state={isDomain ? state : emptyForm} />
      {screen.role === 'OWNER' ? (
        <section>
          <h2>Delete</h2>
          <p class="actions">
            <a href={screen.path('page/delete')}>Delete {organization.name}</a>
          </p>
        </section>
      ) : null}
    </>
  )
  const view = (
    <>
      <a href={screen.path(`pages/${screen.organization.pageId}/access`)}>Access</a>{' '}
      <a href={`/status/${organization.slug}`}>View page</a>
    </>
  )
  return screen.show({ title: 'Page', section: 'page', content, actions: view, hasForeignPictures: true }, state)
}

/** Renders the page in a frame of its own, without scripts, so that nothing in it can reach the console. */
function Preview({ screen, html }: { readonly screen: Screen; readonly html: string }) {
  return (
    <section class="page-preview" aria-label="Preview">
      <iframe
        id="preview"
        title="Preview of the page"
        sandbox=""
        srcdoc={html}
        data-from={screen.path('page/preview')}
      />
    </section>
  )
}

function Settings({ organization, state }: { readonly organization: Organization; readonly state: FormState }) {
  const { version, uptimeSource } = organization
  const now = (name: Exclude<(typeof FIELDS)[number], 'links' | 'logo'>, hint?: string) => {
    const value = name === 'logoUrl' ? addressOf(organization.logoUrl) : organization[name]
    return { hint: currentValue(state, version, { name, value, hint }) }
  }
  const source = uptimeSources.find(({ value }) => value === uptimeSource)
  return (
    <form method="post" class="stack" id="settings" enctype="multipart/form-data">
      <EditProblem state={state} version={version} fields={FIELDS} />
      <VersionField version={version} />
      <InputField
        label="Name"
        name="name"
        state={state}
        value={organization.name}
        required
        maxlength={100}
        {...now('name')}
      />
      <InputField
        label="Name in addresses"
        name="slug"
        state={state}
        value={organization.slug}
        required
        maxlength={63}
        {...now('slug', 'Links with the old name stop working.')}
      />
      <TextField
        label="Description"
        name="description"
        state={state}
        value={organization.description}
        rows={3}
        {...now('description')}
      />
      <InputField
        label="Colour"
        name="accentColor"
        type="color"
        state={state}
        value={organization.accentColor}
        {...now('accentColor')}
      />
      <Logo logo={organization.logoUrl} state={state} {...now('logoUrl')} />
      <InputField
        label="Time zone"
        name="timeZone"
        state={state}
        value={organization.timeZone}
        required
        {...now('timeZone', 'Such as Europe/Berlin. Days of the uptime begin there.')}
      />
      <InputField
        label="Contact address"
        name="contactEmail"
        type="email"
        state={state}
        value={organization.contactEmail}
        required
        {...now('contactEmail', 'For billing and reminders. Not shown.')}
      />
      <SelectField
        label="Uptime counts"
        name="uptimeSource"
        state={state}
        value={uptimeSource}
        choices={uptimeSources}
        hint={currentValue(state, version, {
          name: 'uptimeSource',
          value: uptimeSource,
          shown: source?.text,
          hint: 'A service without monitors counts incidents.',
        })}
      />
      <Links stored={linksOf(organization)} state={state} version={version} />
      <p class="actions">
        <button type="submit">Save</button>
        <PreviewButton />
      </p>
    </form>
  )
}

/** Returns the address of a logo that is not ours; empty: none. */
const addressOf = (logo: string | null) => (logo === null || isUploaded(logo) ? '' : logo)

interface LogoProps {
  readonly logo: string | null
  readonly state: FormState
  readonly hint: Child | undefined
}

function Logo({ logo, state, hint }: LogoProps) {
  return (
    <fieldset class="form-field">
      <legend>Logo</legend>
      {logo !== null && isUploaded(logo) ? <img class="logo" src={logo} alt="The current logo" height="40" /> : null}
      <FileField
        label="Upload a file"
        name="logo"
        state={state}
        accept={Object.values(logoTypes).join()}
        maxBytes={MAX_LOGO_BYTES}
        hint={`PNG, JPEG, WebP or SVG, at most ${MAX_LOGO_BYTES / 1024} kB and ${MAX_LOGO_PIXELS} pixels wide and high.`}
      />
      <InputField
        label="Or its address"
        name="logoUrl"
        type="url"
        state={state}
        value={addressOf(logo)}
        placeholder="https://"
        hint={hint}
      />
      {logo === null ? null : <CheckboxField label="Remove the logo" name="logoRemoved" state={state} />}
    </fieldset>
  )
}

function typedLinks({ fields }: FormState): readonly PageLink[] | null {
  if (!fields.has('links.label')) return null
  const urls = fields.getAll('links.url')
  return fields.getAll('links.label').map((label, index) => ({ label, url: urls[index] ?? '' }))
}

/** Returns links as a text; blank ones are none. */
const textOf = (links: readonly PageLink[]) =>
  links
    .map(({ label, url }) => `${label.trim()} ${url.trim()}`.trim())
    .filter(Boolean)
    .join(', ')

interface LinksProps {
  readonly stored: readonly PageLink[]
  readonly state: FormState
  readonly version: number
}

function Links({ stored, state, version }: LinksProps) {
  const typed = typedLinks(state)
  const rows = [...(typed ?? stored), { label: '', url: '' }, { label: '', url: '' }].slice(0, MAX_LINKS)
  return (
    <fieldset class="form-field">
      <legend>Links for visitors</legend>
      <FormProblem state={{ ...state, problem: state.problem?.message.includes('links') ? state.problem : null }} />
      {isOutdated(state, version) && textOf(typed ?? []) !== textOf(stored) ? (
        <p class="hint">
          <CurrentValue>{textOf(stored) || 'none'}</CurrentValue>
        </p>
      ) : null}
      {rows.map(({ label, url }, index) => (
        <div class="filters">
          <input name="links.label" aria-label={`Text of link ${index + 1}`} placeholder="Text" value={label} />
          <input
            name="links.url"
            type="url"
            aria-label={`Address of link ${index + 1}`}
            placeholder="https://"
            value={url}
          />
        </div>
      ))}
    </fieldset>
  )
}

function Domain({
  screen,
  domain,
  state,
}: {
  readonly screen: Screen
  readonly domain: CustomDomain | null
  readonly state: FormState
}) {
  return (
    <section>
      <h2>Domain</h2>
      {domain === null ? null : <DomainProof {...{ screen, domain }} />}
      <form method="post" action={screen.path('page/domain')} class="stack" id="domain-form">
        <FormProblem state={state} fields={['domain']} />
        <InputField
          label="Host name"
          name="domain"
          state={state}
          value={domain?.name}
          required
          placeholder="status.example.com"
          autocomplete="off"
        />
        <p class="actions">
          <button type="submit" class="quiet">
            {domain === null ? 'Request' : 'Check again'}
          </button>
        </p>
      </form>
      {domain === null ? null : (
        <form method="post" action={screen.path('page/domain/remove')}>
          <button type="submit" class="link">
            Remove {domain.name}
          </button>
        </form>
      )}
    </section>
  )
}

function DomainProof({ screen, domain }: { readonly screen: Screen; readonly domain: CustomDomain }) {
  const { record, file } = challengeOf(domain)
  return (
    <>
      <p>
        <strong>{domain.name}</strong>: {domainStates[domain.state]}
        {domain.checkedAt === null ? null : (
          <>
            , checked <Time at={domain.checkedAt} zone={screen.zone} />
          </>
        )}
      </p>
      {domain.state === 'PROVEN' ? null : (
        <>
          <p>Add this TXT record at your DNS provider and keep it:</p>
          <p class="secret">
            {record.name} TXT {record.value}
          </p>
          <p>
            Or serve this text at <code>{file.url}</code>:
          </p>
          <p class="secret">{file.content}</p>
        </>
      )}
    </>
  )
}

async function showDeletion(screen: Screen, state: FormState): Promise<Response> {
  const { ctx, organization } = screen
  const where = { organizationId: organization.id }
  const [services, monitors, incidents, subscribers] = await Promise.all([
    ctx.db.service.count({ where }),
    ctx.db.monitor.count({ where }),
    ctx.db.incident.count({ where }),
    ctx.db.subscriber.count({ where }),
  ])
  const content = (
    <form method="post" class="stack">
      <p>
        The page, {services} services, {monitors} monitors, {incidents} incidents and {subscribers} subscribers go, and
        all keys stop working at once. For seven days the operator can restore them. Subscriptions at the payment
        provider go on: cancel them there.
      </p>
      <FormProblem state={state} fields={['slug']} />
      <InputField
        label={`Type ${organization.slug} to confirm`}
        name="slug"
        state={state}
        required
        autocomplete="off"
      />
      <p class="actions">
        <button type="submit" class="danger">
          Delete {organization.name}
        </button>{' '}
        <a href={screen.path('page')}>Cancel</a>
      </p>
    </form>
  )
  return screen.show({ title: `Delete ${organization.name}`, section: 'page', content }, state)
}
