import type { Child } from 'hono/jsx'
import type { LogoFile } from '../../../account/page/logo.ts'
import { isUploaded, logoTypes, MAX_LOGO_BYTES, MAX_LOGO_PIXELS, readLogo } from '../../../account/page/logo.ts'
import type { Page } from '../../../account/page/page.ts'
import { findPage } from '../../../account/page/page.ts'
import type { PageLink } from '../../../account/page/page-settings.ts'
import { linksOf } from '../../../account/page/page-settings.ts'
import { requireScope } from '../../../core/access.ts'
import { invalid, nameText } from '../../../core/validation.ts'
import type { Organization } from '../../../generated/prisma/client.ts'
import type { FormState, SubmittedForm } from '../../../http/page/form.tsx'
import {
  CheckboxField,
  FileField,
  FormProblem,
  fieldProblem,
  fileIn,
  InputField,
  isFieldLocked,
  SelectField,
  TextField,
  textRules,
} from '../../../http/page/form.tsx'
import { CurrentValue, currentValue, isOutdated } from '../frame/edit-fields.tsx'
import type { OfferedService } from '../frame/offered-service.ts'
import type { Screen } from '../frame/screen.tsx'
import { idIn } from '../frame/screen.tsx'
import { currentServices, readServiceIds, ServiceChoice } from '../services/service-fields.tsx'

/** The fields of every page, for `EditProblem`. */
export const pageFields = [
  'name',
  'slug',
  'description',
  'accentColor',
  'logo',
  'logoUrl',
  'uptimeSource',
  'links',
  'shows',
  'serviceIds',
] as const

/** The maximum number of links on a page. */
const MAX_LINKS = 10

const uptimeSources = [
  { value: 'MONITORS_AND_INCIDENTS', text: 'Monitors and declared incidents, the worse of both' },
  { value: 'MONITORS', text: 'What monitors measured' },
  { value: 'INCIDENTS', text: 'Incidents only' },
]

const shownServices = [
  { value: 'ALL', text: 'All, including later ones' },
  { value: 'CHOSEN', text: 'Only those chosen below' },
]

/** A page that a form edits. */
export type EditedPage = Page

/**
 * Reads the page in the address. Requires the role ADMIN.
 * @throws NotFound.
 */
export async function pageIn(screen: Screen): Promise<Page> {
  return findPage(screen.ctx.db, requireScope(screen.ctx, 'ADMIN'), idIn(screen))
}

/**
 * Reads the fields of a page; skips links without label and address.
 * @throws Invalid for contradictory choices of services, except for a draft.
 */
export function readPageFields({ fields }: SubmittedForm, before: EditedPage, { isDraft = false } = {}) {
  const labels = fields.getAll('links.label')
  const urls = fields.getAll('links.url')
  const links = labels
    .map((label, index): PageLink => ({ label: label.trim(), url: urls[index]?.trim() ?? '' }))
    .filter(({ label, url }) => label !== '' || url !== '')
  return {
    name: fields.get('name'),
    slug: fields.get('slug'),
    description: fields.get('description') ?? '',
    accentColor: fields.get('accentColor'),
    logoUrl: logoUrlIn(fields, before),
    uptimeSource: fields.get('uptimeSource') ?? undefined,
    links,
    serviceIds: isDraft ? draftServices(fields, before) : readShownServices(fields, before.serviceIds),
  }
}

/** Reads the services for a draft, even if the choices contradict each other. */
function draftServices(fields: URLSearchParams, { serviceIds }: EditedPage) {
  return fields.get('shows') === 'ALL' ? null : readShownServices(fields, serviceIds)
}

/**
 * Reads the services that a page shows: null is all of them, undefined is no choice. Those that it showed before keep
 * their order.
 * @throws Invalid when some are selected for a page that shows all.
 */
export function readShownServices(
  fields: URLSearchParams,
  before: readonly string[] | null,
): readonly string[] | null | undefined {
  if (!fields.has('shows')) return undefined
  const chosen = new Set(readServiceIds(fields))
  if (fields.get('shows') === 'CHOSEN') {
    const known = (before ?? []).filter((id) => chosen.has(id))
    return [...new Set([...known, ...chosen])]
  }
  if (chosen.size === 0) return null
  throw invalid([
    { path: ['shows'], message: 'shows all services, but some are chosen: show only those, or choose none' },
  ])
}

/**
 * Returns the chosen file; undefined: none.
 * @throws Invalid for a picture that pages cannot show.
 */
export function readLogoFile(sent: SubmittedForm): LogoFile | undefined {
  const file = fileIn(sent, 'logo')
  return file && readLogo(file.bytes)
}

/** Returns the typed address of the logo; null: none; undefined: keep the uploaded one, which the form shows. */
function logoUrlIn(fields: URLSearchParams, { logoUrl }: EditedPage): string | null | undefined {
  if (fields.has('logoNone')) return ''
  if (fields.has('logoRemoved')) return null
  return fields.get('logoUrl') || (logoUrl !== null && isUploaded(logoUrl) ? undefined : null)
}

interface Props {
  readonly page: EditedPage
  /** The version that the form edits. */
  readonly version: number
  readonly state: FormState
}

/** Renders the fields for the name and the look of a page. */
export function PageFields({
  page,
  version,
  state,
  owner = null,
}: Props & {
  /** The organization whose logo the page inherits; null: it is the first page. */
  readonly owner?: Pick<Organization, 'name' | 'logoUrl'> | null
}) {
  const { description, accentColor, logoUrl, uptimeSource } = page
  const now = (field: string, value: string, hint?: string) =>
    currentValue(state, version, { name: field, value, hint })
  const source = uptimeSources.find(({ value }) => value === uptimeSource)
  return (
    <>
      <NameFields state={state} page={page} version={version} />
      <TextField
        label="Description"
        name="description"
        state={state}
        value={description}
        rows={3}
        hint={now('description', description)}
      />
      <InputField
        label="Colour"
        name="accentColor"
        type="color"
        state={state}
        value={accentColor}
        hint={now('accentColor', accentColor)}
      />
      <Logo logo={logoUrl} state={state} owner={owner} hint={now('logoUrl', addressOf(logoUrl))} />
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
      <Links stored={linksOf(page)} state={state} version={version} />
    </>
  )
}

/**
 * Renders the fields for the name of a page and its slug.
 * @param page null: a new one.
 */
export function NameFields({ page, version, state }: Omit<Props, 'page'> & { readonly page: EditedPage | null }) {
  const { name = '', slug = '' } = page ?? {}
  const now = (field: string, value: string, hint?: string) =>
    currentValue(state, version, { name: field, value, hint })
  return (
    <>
      <InputField
        label="Name"
        name="name"
        state={state}
        value={name}
        {...textRules(nameText)}
        autofocus={page === null}
        hint={now('name', name)}
      />
      <InputField
        label="Name in addresses"
        name="slug"
        state={state}
        value={slug}
        required
        maxlength={63}
        autocomplete="off"
        hint={
          page
            ? now('slug', slug, 'Links with the old name stop working.')
            : 'Such as acme-staff, for /status/acme-staff.'
        }
      />
    </>
  )
}

/**
 * Renders the choice of the services that a page shows.
 * @param shown the current ones; null: all.
 */
export function ShownServices({
  services,
  shown,
  version,
  state,
}: Omit<Props, 'page'> & { readonly services: readonly OfferedService[]; readonly shown: readonly string[] | null }) {
  const chosen = shown ?? []
  const isOpen = (state.fields.get('shows') ?? (shown === null ? 'ALL' : 'CHOSEN')) === 'CHOSEN'
  const stored = shown === null ? 'ALL' : 'CHOSEN'
  const nameOf = (value: string) => shownServices.find((each) => each.value === value)?.text
  return (
    <>
      <SelectField
        label="Services"
        name="shows"
        state={state}
        value={stored}
        choices={shownServices}
        hint={currentValue(state, version, { name: 'shows', value: stored, shown: nameOf(stored) })}
      />
      <details open={isOpen || state.fields.has('find') || fieldProblem(state, 'shows') !== null}>
        <summary>Choose services</summary>
        <ServiceChoice {...{ state, services, chosen }} hint={currentServices(state, version, services, chosen)} />
      </details>
    </>
  )
}

/** Returns the address of an external logo; empty: none. */
const addressOf = (logo: string | null) => (logo === null || isUploaded(logo) ? '' : logo)

interface LogoProps {
  readonly logo: string | null
  readonly state: FormState
  readonly owner: Pick<Organization, 'name' | 'logoUrl'> | null
  readonly hint: Child | undefined
}

function Logo({ logo, state, owner, hint }: LogoProps) {
  const inherited = owner?.logoUrl ?? null
  const removal = owner === null || inherited === null ? 'Remove the logo' : `Use the logo of ${owner.name}`
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
      {logo === inherited || logo === '' ? null : <CheckboxField label={removal} name="logoRemoved" state={state} />}
      {inherited === null ? null : (
        <CheckboxField label="No logo" name="logoNone" state={state} checked={logo === ''} />
      )}
    </fieldset>
  )
}

function typedLinks({ fields }: FormState): readonly PageLink[] | null {
  if (!fields.has('links.label')) return null
  const urls = fields.getAll('links.url')
  return fields.getAll('links.label').map((label, index) => ({ label, url: urls[index] ?? '' }))
}

/** Formats links as a text, without blank ones. */
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
    <fieldset class="form-field" disabled={isFieldLocked(state, 'links')}>
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
