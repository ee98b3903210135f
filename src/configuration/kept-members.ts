// Operations on objects with members that are given when they are created, and stay.
import type { Context } from '../core/context.ts'
import { invalid } from '../core/validation.ts'
import { ownObjective, updateObjective } from '../monitoring/objective/objective.ts'
import { createTemplate, findTemplate, updateTemplate } from '../status/template.ts'
import { bothIn } from '../status/translations.ts'

/** A template as a file gives it, with references replaced. `asInput` has named its services. */
interface FileTemplate {
  readonly id?: string
  readonly kind: string
  readonly serviceIds?: readonly (string | { readonly service: string; readonly status: string })[]
  readonly translations?: readonly { readonly language: string }[]
}

/** Creates a template. @throws as `createTemplate` does. */
export function createFileTemplate(ctx: Context, input: unknown) {
  return createTemplate(ctx, templateInput(input as FileTemplate))
}

/** Updates a template, whose translations are replaced. @throws as `updateTemplate` does, and Invalid for another kind. */
export async function updateFileTemplate(ctx: Context, input: unknown) {
  const { kind, ...given } = templateInput(input as FileTemplate & { readonly id: string })
  const before = await findTemplate(ctx, requireOrganization(ctx), given.id)
  if (kind !== before.kind) throw kept('kind', before.kind)
  const named = new Set(given.translations?.map(({ language }) => language))
  const others = bothIn(before.translations).filter(({ language }) => !named.has(language))
  const removed = others.map(({ language }) => ({ language, title: null, message: null }))
  const translations = given.translations && { translations: [...given.translations, ...removed] }
  return updateTemplate(ctx, { ...given, ...translations })
}

/** Updates an objective. @throws as `updateObjective` does, and Invalid for another service. */
export async function updateFileObjective(ctx: Context, input: unknown) {
  const { serviceId, ...given } = input as { readonly id: string; readonly serviceId: string }
  const before = await ownObjective(ctx, requireOrganization(ctx), given.id)
  if (serviceId !== before.serviceId) throw kept('service', before.service.name)
  return updateObjective(ctx, given)
}

/** Returns the input of a template: services of maintenance have no status. */
function templateInput<T extends FileTemplate>({ serviceIds, ...given }: T) {
  if (serviceIds === undefined || given.kind === 'MAINTENANCE') return { ...given, serviceIds }
  return {
    ...given,
    services: serviceIds.map((each) =>
      typeof each === 'string' ? { serviceId: each } : { serviceId: each.service, status: each.status },
    ),
  }
}

function requireOrganization({ open }: Context): string {
  if (open === undefined) throw new Error('Files are applied in a change.')
  return open.organizationId
}

const kept = (member: string, value: string) =>
  invalid([{ path: [member], message: `must stay ${value}: write another object under a key of its own` }])
