import { z } from 'zod'
import type { EditContext } from '../../account/managed-object.ts'
import { requireDeletable, requireUnlocked } from '../../account/managed-object.ts'
import { readOrganization } from '../../account/organization/organization-queries.ts'
import { requireScope } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { described, idOf, idText, named } from '../../core/described.ts'
import { Conflict, NotFound } from '../../core/errors.ts'
import { isIdOf, newId } from '../../core/id.ts'
import { changedFields, requireVersion, sameSet, versionInput } from '../../core/optimistic-lock.ts'
import { invalid, nameText, validate } from '../../core/validation.ts'
import type { ChangeContext } from '../../event-log/change.ts'
import { change } from '../../event-log/change.ts'
import type { NewEvent } from '../../event-log/event.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { IncidentImpact, IncidentStatus, TemplateKind } from '../../generated/prisma/enums.ts'
import type { Language } from '../../language/catalogue.ts'
import { Language as languageNames, languages, wordsOf } from '../../language/catalogue.ts'
import { findIncident } from '../incident/incident.ts'
import { serviceStatuses } from '../incident/incident-services.ts'
import { requireDistinct, requireServices } from '../ownership.ts'
import { message, titleText } from '../timeline/timeline-limits.ts'
import { bothAfter, bothIn, translations } from '../timeline/translations.ts'
import type { PlaceholderValues } from './template-text.ts'
import { fillPlaceholders, placeholders, placeholdersIn, requirePlaceholders } from './template-text.ts'

/** The maximum number of templates of an organization. */
export const MAX_TEMPLATES = 50
/** The maximum number of services of a template. */
export const MAX_TEMPLATE_SERVICES = 100

/** The relations that a template is read with. */
export const templateServices = {
  services: {
    select: { serviceId: true, status: true, service: { select: { name: true } } },
    orderBy: [{ service: { position: 'asc' } }, { serviceId: 'asc' }],
  },
} as const satisfies Prisma.TemplateInclude

/** A template with its services, in page order. */
export type Template = Prisma.TemplateGetPayload<{ include: typeof templateServices }>

const serviceIds = z.array(idText).max(MAX_TEMPLATE_SERVICES, `must be at most ${MAX_TEMPLATE_SERVICES}`).nullish()

const content = {
  title: described(titleText.or(z.literal('')).nullish(), { description: 'The title. Empty: none.' }),
  translations: translations.both,
  status: described(z.enum(IncidentStatus).nullish(), {
    description: 'The status. Null leaves the choice open. Not for MAINTENANCE.',
  }),
  impact: described(z.enum(IncidentImpact).nullish(), {
    description: 'The impact. Null leaves the choice open. For INCIDENT only.',
  }),
  services: described(
    z.array(serviceStatuses.element).max(MAX_TEMPLATE_SERVICES, `must be at most ${MAX_TEMPLATE_SERVICES}`).nullish(),
    { description: 'The services and the statuses to give them. Not for MAINTENANCE.' },
  ),
  serviceIds: described(serviceIds, { description: 'The services of a MAINTENANCE.' }),
  notifySubscribers: described(z.boolean().nullish(), {
    description: 'Whether subscribers are to be notified. Default: true in a new template.',
  }),
}

const text = described(message, {
  description: `The message, in markdown. ${placeholders.map((name) => `{{${name}}}`).join(', ')} are filled in when it is used.`,
})

/** The input of `createTemplate`. */
export const newTemplate = named(
  z.object({
    kind: described(z.enum(TemplateKind), { description: 'What it prepares. It cannot be changed later.' }),
    name: described(nameText, { description: 'Its name, which only members see.' }),
    message: text,
    ...content,
  }),
  { name: 'CreateTemplate', about: 'The template to create.' },
)

/**
 * Creates a template. Requires a key with scope WRITE.
 * @throws Invalid, NotFound for an unknown service, and Conflict when its name is taken or there are too many.
 */
export async function createTemplate(ctx: ChangeContext, input: unknown): Promise<Template> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { kind, name, message, ...given } = validate(newTemplate, input)
  requireKnownPlaceholders({ ...given, message })
  const statuses = servicesOf(kind, given) ?? []
  return change(ctx, organizationId, async (tx) => {
    if ((await tx.db.template.count({ where: { organizationId } })) >= MAX_TEMPLATES)
      throw new Conflict(`An organization can have at most ${MAX_TEMPLATES} templates. Delete one first.`)
    await requireFreeName(tx, organizationId, kind, name)
    await requireServices(tx, organizationId, statuses.map(serviceIdOf))
    const template = await tx.db.template.create({
      data: {
        ...{ id: newId('Template'), organizationId, kind, name, message },
        title: given.title ?? '',
        translations: bothAfter({}, given.translations),
        ...choicesOf(kind, given),
        notifySubscribers: given.notifySubscribers ?? true,
        createdAt: tx.now(),
        services: { create: statuses },
      },
      include: templateServices,
    })
    return [template, templateEvent('TEMPLATE_CREATED', template)]
  })
}

/** The input of `updateTemplate`. */
export const templateEdit = named(
  z.object({
    id: idOf('The template to change.'),
    name: described(nameText.nullish(), { description: 'Its name.' }),
    message: text.nullish(),
    ...content,
    version: versionInput,
  }),
  { name: 'UpdateTemplate', about: 'The changes. Omitted fields stay as they are, and so does the kind.' },
)

/**
 * Updates the given fields of a template, except its kind; given services replace all of its services. Requires a key
 * with scope WRITE.
 * @throws Invalid, NotFound, Conflict when it was changed after the given version or its new name is taken, and
 * ManagedByFile.
 */
export async function updateTemplate(ctx: EditContext, input: unknown): Promise<Template> {
  const organizationId = requireScope(ctx, 'WRITE')
  const { id, version, ...given } = validate(templateEdit, input)
  requireKnownPlaceholders(given)
  return change(ctx, organizationId, async (tx) => {
    const before = await findTemplate(tx, organizationId, id)
    requireVersion(before, version)
    const { kind } = before
    const statuses = servicesOf(kind, given)
    if (given.name && given.name !== before.name) await requireFreeName(tx, organizationId, kind, given.name)
    await requireServices(tx, organizationId, (statuses ?? []).map(serviceIdOf))
    const edit = {
      name: given.name ?? undefined,
      message: given.message ?? undefined,
      title: given.title ?? undefined,
      translations: bothAfter(before.translations, given.translations),
      ...choicesOf(kind, given),
      notifySubscribers: given.notifySubscribers ?? undefined,
    }
    const changed = [...changedFields(before, edit), ...(hasOtherServices(before, statuses) ? ['services'] : [])]
    if (changed.length === 0) return [before]
    await requireUnlocked(tx, organizationId, id, changed)
    const template = await tx.db.template.update({
      where: { id },
      data: {
        ...edit,
        ...(statuses && { services: { deleteMany: {}, create: statuses } }),
        version: { increment: 1 },
      },
      include: templateServices,
    })
    return [template, templateEvent('TEMPLATE_UPDATED', template)]
  })
}

/** Deletes a template and returns it. Requires a key with scope WRITE. @throws NotFound and ManagedByFile. */
export async function deleteTemplate(ctx: EditContext, id: string): Promise<Template> {
  const organizationId = requireScope(ctx, 'WRITE')
  return change(ctx, organizationId, async (tx) => {
    const template = await findTemplate(tx, organizationId, id)
    await requireDeletable(tx, organizationId, id)
    await tx.db.template.delete({ where: { id } })
    return [template, templateEvent('TEMPLATE_DELETED', template)]
  })
}

/** Reads the templates of an organization, by name. @param kind absent: of all kinds. */
export function readTemplates({ db }: Pick<Context, 'db'>, organizationId: string, kind?: TemplateKind) {
  const where = { organizationId, ...(kind && { kind }) }
  return db.template.findMany({
    where,
    include: templateServices,
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
    take: MAX_TEMPLATES,
  })
}

/**
 * Reads a template of the organization.
 * @throws NotFound.
 */
export async function findTemplate({ db }: Pick<Context, 'db'>, organizationId: string, id: string): Promise<Template> {
  const found = isIdOf('Template', id)
    ? await db.template.findUnique({ where: { id, organizationId }, include: templateServices })
    : null
  if (found === null) throw new NotFound('Template not found.')
  return found
}

/** The context in which a template is used. Absent values come from the incident or the template, or stay unknown. */
export interface TemplateUse {
  /** The affected services. */
  readonly serviceIds?: readonly string[] | null
  readonly startedAt?: Date | null
  readonly endsAt?: Date | null
  /** The incident of an update. */
  readonly incidentId?: string | null
}

/** The texts of a template with its placeholders filled in. */
export interface FilledTemplate {
  readonly title: string
  readonly message: string
  readonly translations: readonly {
    readonly language: Language
    readonly title?: string
    readonly message?: string
  }[]
  /** The placeholders that could not be filled in. */
  readonly missing: readonly string[]
}

/**
 * Fills in the placeholders of a template, in each of its languages. @throws NotFound for an unknown incident or
 * service.
 */
export async function fillTemplate(ctx: Context, template: Template, use: TemplateUse = {}): Promise<FilledTemplate> {
  const valuesIn = await placeholderValues(ctx, template, use)
  const { defaultLanguage } = await readOrganization(ctx, template.organizationId)
  const own = valuesIn(languages.find((each) => each === defaultLanguage) ?? languageNames.EN)
  const filled = {
    title: fillPlaceholders(template.title, own),
    message: fillPlaceholders(template.message, own),
    translations: bothIn(template.translations).map(({ language, title, message }) => {
      const values = valuesIn(language)
      return {
        language,
        ...(title && { title: fillPlaceholders(title, values) }),
        ...(message && { message: fillPlaceholders(message, values) }),
      }
    }),
  }
  const others = filled.translations.flatMap(({ title = '', message = '' }) => [title, message])
  return { ...filled, missing: placeholdersIn([filled.title, filled.message, ...others]) }
}

/** Returns the values of the placeholders in a language. */
async function placeholderValues(
  ctx: Context,
  { kind, organizationId, services }: Template,
  use: TemplateUse,
): Promise<(language: Language) => PlaceholderValues> {
  const incident = use.incidentId ? await findIncident(ctx, organizationId, use.incidentId) : null
  const chosen =
    use.serviceIds ??
    (incident === null
      ? services.map(serviceIdOf)
      : (await ctx.db.incidentService.findMany({ where: { incidentId: incident.id } })).map(serviceIdOf))
  await requireServices(ctx, organizationId, [...new Set(chosen)])
  const [{ name, timeZone }, named] = await Promise.all([
    readOrganization(ctx, organizationId),
    ctx.db.service.findMany({
      where: { organizationId, id: { in: [...chosen] } },
      select: { name: true },
      orderBy: [{ position: 'asc' }, { id: 'asc' }],
    }),
  ])
  const startedAt = use.startedAt ?? incident?.startedAt ?? (kind === 'INCIDENT' ? ctx.now() : null)
  return (language) => {
    const words = wordsOf(language)
    const list = new Intl.ListFormat(words.locale, { type: 'conjunction' })
    const time = words.date(timeZone, { dateStyle: 'long', timeStyle: 'short' })
    return {
      page: name,
      ...(named.length > 0 && { service: list.format(named.map((service) => service.name)) }),
      ...(incident && { title: incident.title }),
      ...(startedAt && { started: time(startedAt) }),
      ...(use.endsAt && { ends: time(use.endsAt) }),
    }
  }
}

type Given = z.infer<z.ZodObject<typeof content>>

/** @throws Invalid when a text has an unknown placeholder. */
function requireKnownPlaceholders(given: Pick<Given, 'title' | 'translations'> & { message?: string | null }): void {
  requirePlaceholders(['title'], given.title ?? '')
  requirePlaceholders(['message'], given.message ?? '')
  for (const [index, { title, message }] of (given.translations ?? []).entries()) {
    requirePlaceholders(['translations', String(index), 'title'], title ?? '')
    requirePlaceholders(['translations', String(index), 'message'], message ?? '')
  }
}

/**
 * Returns the given services for a kind; null: none.
 * @throws Invalid for those of another kind.
 */
function servicesOf(kind: TemplateKind, { services, serviceIds }: Pick<Given, 'services' | 'serviceIds'>) {
  const isMaintenance = kind === 'MAINTENANCE'
  if (services && isMaintenance) throw invalid([{ path: ['services'], message: 'must be serviceIds for MAINTENANCE' }])
  if (serviceIds && !isMaintenance) throw invalid([{ path: ['serviceIds'], message: 'must be services for this kind' }])
  const given = isMaintenance ? serviceIds?.map((serviceId) => ({ serviceId, status: null })) : services
  if (!given) return null
  requireDistinct(given.map(serviceIdOf), (index) =>
    isMaintenance ? ['serviceIds', index] : ['services', index, 'serviceId'],
  )
  return [...given]
}

/** Returns the given status and impact; null leaves the choice open. */
function choicesOf(kind: TemplateKind, { status, impact }: Pick<Given, 'status' | 'impact'>) {
  if (status && kind === 'MAINTENANCE')
    throw invalid([{ path: ['status'], message: 'must not be given for MAINTENANCE' }])
  if (impact && kind !== 'INCIDENT') throw invalid([{ path: ['impact'], message: 'is for INCIDENT only' }])
  return { ...(status !== undefined && { status }), ...(impact !== undefined && { impact }) }
}

/** Returns whether an edit changes the services or statuses of a template; null: it contains none. */
function hasOtherServices({ services: before }: Template, given: ReturnType<typeof servicesOf>): boolean {
  const keyOf = ({ serviceId, status }: { readonly serviceId: string; readonly status: string | null }) =>
    `${serviceId} ${status}`
  return given !== null && !sameSet<{ serviceId: string; status: string | null }>(before, given, keyOf)
}

async function requireFreeName({ db }: Context, organizationId: string, kind: TemplateKind, name: string) {
  const taken = await db.template.count({ where: { organizationId, kind, name } })
  if (taken > 0) throw new Conflict(`There is a template “${name}” already.`)
}

const templateEvent = (kind: NewEvent['kind'], { id, name }: Template): NewEvent => ({
  kind,
  subjectId: id,
  subjectName: name,
})
const serviceIdOf = ({ serviceId }: { readonly serviceId: string }) => serviceId
