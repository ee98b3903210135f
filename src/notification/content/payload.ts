import { z } from 'zod'
import { withReportSetting } from '../../account/views.ts'
import type { Database } from '../../core/context.ts'
import type { StoredMessages } from '../../core/markdown/markdown-rendering.ts'
import type { KindFor } from '../../event-log/audience.ts'
import { isFor } from '../../event-log/audience.ts'
import type { Event, Prisma } from '../../generated/prisma/client.ts'
import type { Topic } from '../../generated/prisma/enums.ts'
import { IncidentImpact, IncidentStatus, MaintenanceStatus, ServiceStatus } from '../../generated/prisma/enums.ts'
import type { Language } from '../../language/catalogue.ts'
import { languages } from '../../language/catalogue.ts'
import { readUpdateFiles } from '../../status/incident/file-store.ts'
import type { PageScope } from '../../status/page-scope.ts'
import { shows } from '../../status/page-scope.ts'
import { shownServiceOf, statusCausesSelect } from '../../status/service/shown-status.ts'
import { storedTexts } from '../../status/timeline/translations.ts'

const referenceFields = { id: z.string(), name: z.string() }

/** Markdown and its HTML. Old payloads have no HTML. */
const messageFields = {
  message: z.string(),
  html: z.string().nullish(),
  /** Title and message in other languages. */
  translations: z
    .array(
      z.object({
        language: z.string(),
        title: z.string().nullish(),
        message: z.string().nullish(),
        html: z.string().nullish(),
      }),
    )
    .nullish(),
}

const incidentPayload = z.object({
  about: z.literal('INCIDENT'),
  step: z.enum(['CREATED', 'UPDATED', 'RESOLVED', 'POSTMORTEM']),
  id: z.string(),
  title: z.string(),
  status: z.enum(IncidentStatus),
  impact: z.enum(IncidentImpact),
  ...messageFields,
  startedAt: z.coerce.date(),
  /** Old payloads have none. */
  files: z.array(z.object({ ...referenceFields, alt: z.string() })).nullish(),
  services: z.array(z.object({ ...referenceFields, status: z.enum(ServiceStatus) })),
})

const maintenancePayload = z.object({
  about: z.literal('MAINTENANCE'),
  step: z.enum(['SCHEDULED', 'RESCHEDULED', 'UPDATED', 'STARTED', 'COMPLETED', 'CANCELLED']),
  id: z.string(),
  title: z.string(),
  status: z.enum(MaintenanceStatus),
  ...messageFields,
  startsAt: z.coerce.date(),
  endsAt: z.coerce.date(),
  services: z.array(z.object(referenceFields)),
})

const servicePayload = z.object({
  about: z.literal('SERVICE'),
  step: z.literal('STATUS_CHANGED'),
  id: z.string(),
  title: z.string(),
  /** UNKNOWN: its monitors have no results, or it has neither monitors nor a stated status. */
  status: z.enum({ ...ServiceStatus, UNKNOWN: 'UNKNOWN' }),
  /** The source of the status (`StatusBasis`); later versions may know others, and old payloads have none. */
  basis: z.string().nullish(),
})

/** The content of a monthly report, as stored once it is complete. */
const reportContent = z.object({
  /** The path of the report in the console. */
  consolePath: z.string(),
  services: z.array(
    z.object({ ...referenceFields, percent: z.number().nullable(), downMs: z.number(), maintenanceMs: z.number() }),
  ),
  incidents: z.int(),
  recoveryMs: z.number().nullable(),
})

/** The content of a monthly report. */
export type ReportContent = z.infer<typeof reportContent>

const reportPayload = z.object({
  about: z.literal('REPORT'),
  step: z.literal('CREATED'),
  /** The id of the page and the month. */
  id: z.string(),
  /** The month, such as 2026-10. */
  title: z.string(),
  pageId: z.string(),
  /** Whether everyone with access to the page can read the report. */
  isPublished: z.boolean(),
  ...reportContent.shape,
})

const payloadSchema = z.discriminatedUnion('about', [
  incidentPayload,
  maintenancePayload,
  servicePayload,
  reportPayload,
])

/** The data of a notification at the time of its event. Messages are Markdown. */
export type NotificationPayload = z.infer<typeof payloadSchema> & { readonly at: Date }

type PayloadBody = z.infer<typeof payloadSchema>

/** The topic of each kind of payload. */
const topicByPayload = {
  INCIDENT: 'INCIDENTS',
  MAINTENANCE: 'MAINTENANCES',
  SERVICE: 'SERVICE_STATUS',
  REPORT: 'REPORTS',
} as const satisfies Record<PayloadBody['about'], Topic>

/** Parses a stored payload. @throws Error for malformed data, which is a bug. */
export function parsePayload(content: Prisma.JsonValue): NotificationPayload {
  const { at } = z.object({ at: z.coerce.date() }).parse(content)
  return { ...payloadSchema.parse(content), at }
}

/** Serializes a payload for the database. */
export function serializePayload(payload: NotificationPayload): Prisma.InputJsonObject {
  // `parsePayload` reads dates back.
  return JSON.parse(JSON.stringify(payload)) as Prisma.InputJsonObject
}

/** Returns a payload with the translations of its texts into a language, where they exist. */
export function payloadIn(payload: NotificationPayload, language: Language): NotificationPayload {
  const own = isAuthored(payload) ? payload.translations?.find((each) => each.language === language) : undefined
  if (own === undefined) return payload
  const { title, message, html } = own
  return { ...payload, ...(title && { title }), ...(message && { message, html }) }
}

/** Returns whether a payload has a translation of a text into a language. */
export function isWrittenIn(payload: NotificationPayload, language: Language, text: 'title' | 'message'): boolean {
  return isAuthored(payload) && !!payload.translations?.some((each) => each.language === language && each[text])
}

/** Returns whether people wrote a payload's title and message. */
export function isAuthored(
  payload: NotificationPayload,
): payload is Extract<NotificationPayload, { about: 'INCIDENT' | 'MAINTENANCE' }> {
  return payload.about === 'INCIDENT' || payload.about === 'MAINTENANCE'
}

/** Removes the services that a page does not show from a stored payload. */
export function narrowPayload(content: Prisma.JsonValue, page: Pick<PageScope, 'serviceIds'>): Prisma.JsonValue {
  const { data } = affectedSchema.safeParse(content)
  if (page.serviceIds === null || data === undefined) return content
  return { ...data, services: data.services.filter(({ id }) => shows(page, id)) } as Prisma.JsonValue
}

const affectedSchema = z.looseObject({ services: z.array(z.looseObject({ id: z.string() })) })

/** A payload and its audience. */
export interface Notification {
  readonly payload: NotificationPayload
  readonly topic: Topic
  /** The affected services; if empty, all subscribers of the topic are notified. */
  readonly serviceIds: readonly string[]
}

/**
 * Builds the notification of an event; null if the event is not announced or its subject is deleted. It describes the
 * state at the time of the event as far as the timeline allows, because the log may be read late.
 */
export async function buildNotification(db: Database, event: Event): Promise<Notification | null> {
  if (!isFor('subscribers', event.kind)) return null
  const body = await payloadBuilders[event.kind](db, event)
  if (body === null) return null
  return { payload: { ...body, at: event.at }, topic: topicByPayload[body.about], serviceIds: affectedServiceIds(body) }
}

function affectedServiceIds(body: PayloadBody): string[] {
  if (body.about === 'REPORT') return []
  return body.about === 'SERVICE' ? [body.id] : body.services.map(({ id }) => id)
}

type PayloadBuilder = (db: Database, event: Event) => Promise<PayloadBody | null>

const payloadBuilders: Readonly<Record<KindFor<'subscribers'>, PayloadBuilder>> = {
  INCIDENT_CREATED: buildIncidentPayload,
  INCIDENT_UPDATE_POSTED: buildIncidentPayload,
  POSTMORTEM_PUBLISHED: buildPostmortemPayload,
  MAINTENANCE_SCHEDULED: maintenancePayloadBuilder('SCHEDULED'),
  MAINTENANCE_RESCHEDULED: maintenancePayloadBuilder('RESCHEDULED'),
  MAINTENANCE_UPDATE_POSTED: maintenancePayloadBuilder('UPDATED'),
  MAINTENANCE_STARTED: maintenancePayloadBuilder('STARTED'),
  MAINTENANCE_COMPLETED: maintenancePayloadBuilder('COMPLETED'),
  MAINTENANCE_CANCELLED: maintenancePayloadBuilder('CANCELLED'),
  SERVICE_STATUS_CHANGED: buildServicePayload,
  REPORT_CREATED: buildReportPayload,
}

const service = { select: { id: true, name: true } } satisfies Prisma.ServiceDefaultArgs

async function buildIncidentPayload(
  db: Database,
  { organizationId, updateId, subjectId, subjectName, kind }: Event,
): Promise<PayloadBody | null> {
  const incident = await db.incident.findUnique({
    where: { id: subjectId, organizationId },
    include: { services: { include: { service }, orderBy: { service: { position: 'asc' } } } },
  })
  const update = await db.incidentUpdate.findFirst({ where: { id: updateId ?? '', incidentId: subjectId } })
  if (!incident || !update) return null
  const { status, message, html, translations, createdAt } = update
  const updates = await db.incidentUpdate.findMany({
    where: { incidentId: subjectId, createdAt: { lte: createdAt } },
    select: { services: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const files = (await readUpdateFiles(db, [update.id])).map(({ id, name, alt }) => ({ id, name, alt }))
  const statuses = new Map(
    updates.flatMap(({ services }) => services.map((each) => [each.serviceId, each.status] as const)),
  )
  return {
    about: 'INCIDENT',
    step: kind === 'INCIDENT_CREATED' ? 'CREATED' : status === 'RESOLVED' ? 'RESOLVED' : 'UPDATED',
    id: subjectId,
    title: subjectName,
    status,
    impact: incident.impact,
    message,
    html,
    ...inOtherLanguages(incident.titles, translations),
    startedAt: incident.startedAt,
    ...(files.length > 0 && { files }),
    services: incident.services.map((each) => ({
      ...each.service,
      status: status === 'RESOLVED' ? 'OPERATIONAL' : (statuses.get(each.serviceId) ?? each.status),
    })),
  }
}

async function buildPostmortemPayload(
  db: Database,
  { organizationId, subjectId, subjectName }: Event,
): Promise<PayloadBody | null> {
  const incident = await db.incident.findUnique({
    where: { id: subjectId, organizationId, visibility: 'PUBLIC' },
    include: { postmortem: true, services: { include: { service }, orderBy: { service: { position: 'asc' } } } },
  })
  // The post-mortem may have been unpublished or deleted in the meantime.
  if (!incident?.postmortem?.publishedAt) return null
  const { status, impact, startedAt, titles, postmortem } = incident
  return {
    about: 'INCIDENT',
    step: 'POSTMORTEM',
    id: subjectId,
    title: subjectName,
    status,
    impact,
    message: postmortem.message,
    html: postmortem.html,
    ...inOtherLanguages(titles, postmortem.translations),
    startedAt,
    services: incident.services.map((each) => ({ ...each.service, status: each.status })),
  }
}

/** Returns a title and a message in other languages. */
function inOtherLanguages(titles: Prisma.JsonValue, messages: Prisma.JsonValue) {
  const titleBy = new Map(storedTexts<string>(titles).map(({ language, text }) => [language, text]))
  const messageBy = new Map(storedTexts<StoredMessages[string]>(messages).map(({ language, text }) => [language, text]))
  const named = languages.filter((language) => titleBy.has(language) || messageBy.has(language))
  const translations = named.map((language) => ({ language, title: titleBy.get(language), ...messageBy.get(language) }))
  return translations.length === 0 ? {} : { translations }
}

type MaintenanceStep = z.infer<typeof maintenancePayload>['step']

function maintenancePayloadBuilder(step: MaintenanceStep): PayloadBuilder {
  return async (db, { organizationId, updateId, subjectId, subjectName }) => {
    const maintenance = await db.maintenance.findUnique({
      where: { id: subjectId, organizationId },
      include: {
        services: { include: { service }, orderBy: { service: { position: 'asc' } } },
        updates: { where: { id: updateId ?? '' } },
      },
    })
    if (!maintenance) return null
    const { titles, updates, startsAt, endsAt, services } = maintenance
    // A maintenance that starts when it is scheduled is announced once: its second event has no update.
    const [update] = updates
    if (!update) return null
    return {
      about: 'MAINTENANCE',
      step,
      id: subjectId,
      title: subjectName,
      status: update.status,
      message: step === 'RESCHEDULED' ? '' : update.message,
      html: step === 'RESCHEDULED' ? '' : update.html,
      ...inOtherLanguages(titles, step === 'RESCHEDULED' ? {} : update.translations),
      startsAt,
      endsAt,
      services: services.map((each) => each.service),
    }
  }
}

async function buildServicePayload(
  db: Database,
  { organizationId, subjectId, subjectName }: Event,
): Promise<PayloadBody | null> {
  const found = await db.service.findUnique({ where: { id: subjectId, organizationId }, select: statusCausesSelect })
  if (!found) return null
  const { shown: status, basis } = shownServiceOf(found)
  return { about: 'SERVICE', step: 'STATUS_CHANGED', id: subjectId, title: subjectName, status, basis }
}

async function buildReportPayload(
  db: Database,
  { subjectId, reportMonth, updateId }: Event,
): Promise<PayloadBody | null> {
  // Early events have the month instead of an update id.
  const month = reportMonth ?? updateId ?? ''
  const report = await db.pageReport.findUnique({
    where: { pageId_month: { pageId: subjectId, month } },
    include: withReportSetting,
  })
  if (report === null) return null
  return {
    about: 'REPORT',
    step: 'CREATED',
    id: `${subjectId}.${month}`,
    title: month,
    pageId: subjectId,
    isPublished: report.page.publishesReports,
    ...reportContent.parse(report.content),
  }
}
