import type { EditContext } from '../account/managed-object.ts'
// Operations on objects that have immutable fields, or fields that a file sets only once.
import { invalid } from '../core/validation.ts'
import type { ChangeContext } from '../event-log/change.ts'
import { ownObjective, updateObjective } from '../monitoring/objective/objective.ts'
import { updateService, updateServices } from '../status/service/service.ts'
import { findUnstatedIds } from '../status/service/service-queries.ts'
import { createTemplate, findTemplate, updateTemplate } from '../status/template/template.ts'
import { bothIn } from '../status/timeline/translations.ts'

/** A template from a file, with references resolved to ids by `asInput`. */
interface FileTemplate {
  readonly id?: string
  readonly kind: string
  readonly serviceIds?: readonly (string | { readonly service: string; readonly status: string })[]
  readonly translations?: readonly { readonly language: string }[]
}

/** Creates a template. @throws the errors of `createTemplate`. */
export function createFileTemplate(ctx: ChangeContext, input: unknown) {
  return createTemplate(ctx, templateInput(input as FileTemplate))
}

/** Updates a template and replaces its translations. @throws the errors of `updateTemplate`, and Invalid if the kind changes. */
export async function updateFileTemplate(ctx: EditContext, input: unknown) {
  const { kind, ...given } = templateInput(input as FileTemplate & { readonly id: string })
  const before = await findTemplate(ctx, requireOrganization(ctx), given.id)
  if (kind !== before.kind) throw immutable('kind', before.kind)
  const named = new Set(given.translations?.map(({ language }) => language))
  const others = bothIn(before.translations).filter(({ language }) => !named.has(language))
  const removed = others.map(({ language }) => ({ language, title: null, message: null }))
  const translations = given.translations && { translations: [...given.translations, ...removed] }
  return updateTemplate(ctx, { ...given, ...translations })
}

/** Updates an objective. @throws the errors of `updateObjective`, and Invalid if the service changes. */
export async function updateFileObjective(ctx: EditContext, input: unknown) {
  const { serviceId, ...given } = input as { readonly id: string; readonly serviceId: string }
  const before = await ownObjective(ctx, requireOrganization(ctx), given.id)
  if (serviceId !== before.serviceId) throw immutable('service', before.service.name)
  return updateObjective(ctx, given)
}

/** A service from a file, with references resolved to ids by `asInput`. */
interface FileService {
  readonly id: string
  readonly status?: string | null
}

/** Updates a service. Its status in the file counts only if it has none. @throws the errors of `updateService`. */
export async function updateFileService(ctx: EditContext, input: unknown) {
  const [given] = await withFirstStatus(ctx, [input])
  return updateService(ctx, given)
}

/** Updates services like `updateFileService`. @throws the errors of `updateServices`. */
export async function updateFileServices(ctx: EditContext, inputs: readonly unknown[]) {
  await updateServices(ctx, await withFirstStatus(ctx, inputs))
}

/** Leaves the status to the services that have none. */
async function withFirstStatus(ctx: ChangeContext, inputs: readonly unknown[]): Promise<unknown[]> {
  const given = inputs as readonly FileService[]
  const ids = given.flatMap(({ id, status }) => (status == null ? [] : [id]))
  const unstated = ids.length === 0 ? new Set() : await findUnstatedIds(ctx, requireOrganization(ctx), ids)
  return given.map(({ status, ...input }) => (unstated.has(input.id) ? { ...input, status } : input))
}

/** Returns the input of a template operation. Only services of an incident have a status. */
function templateInput<T extends FileTemplate>({ serviceIds, ...given }: T) {
  if (serviceIds === undefined || given.kind === 'MAINTENANCE') return { ...given, serviceIds }
  return {
    ...given,
    services: serviceIds.map((each) =>
      typeof each === 'string' ? { serviceId: each } : { serviceId: each.service, status: each.status },
    ),
  }
}

function requireOrganization({ open }: Pick<ChangeContext, 'open'>): string {
  if (open === undefined) throw new Error('Files are applied in a change.')
  return open.organizationId
}

const immutable = (field: string, value: string) =>
  invalid([{ path: [field], message: `must stay ${value}. Use another key for another object` }])
