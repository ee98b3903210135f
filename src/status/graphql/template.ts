import { Conflict, Invalid, ManagedByFile, NotFound } from '../../core/errors.ts'
import { IncidentImpact, IncidentStatus, ServiceStatus, TemplateKind } from '../../generated/prisma/enums.ts'
import { costs, rows, text } from '../../graphql/document/cost.ts'
import { deletionPayload } from '../../graphql/schema/deletion-payload.ts'
import { describedInput } from '../../graphql/schema/described-type.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { VERSION } from '../../graphql/schema/version.ts'
import { MAX_SERVICES } from '../ownership.ts'
import type { FilledTemplate as Filled, Template as TemplateRow } from '../template/template.ts'
import {
  createTemplate,
  deleteTemplate,
  fillTemplate,
  MAX_TEMPLATE_SERVICES,
  MAX_TEMPLATES,
  newTemplate,
  readTemplates,
  templateEdit,
  updateTemplate,
} from '../template/template.ts'
import { placeholders } from '../template/template-text.ts'
import { MAX_MESSAGE_LENGTH } from '../timeline/timeline-limits.ts'
import { bothIn } from '../timeline/translations.ts'
import { builder } from './builder.ts'
import { messagesCost, TemplateTranslation } from './translation.ts'

builder.enumType(TemplateKind, {
  name: 'TemplateKind',
  description: 'What a template prepares.',
  values: describedValues({
    INCIDENT: 'An incident.',
    MAINTENANCE: 'A maintenance.',
    UPDATE: 'An update of an incident.',
  }),
})

const TemplateService = builder.objectRef<TemplateRow['services'][number]>('TemplateService').implement({
  description: 'A service of a template.',
  fields: (t) => ({
    serviceId: t.exposeID('serviceId', { description: 'The service.' }),
    status: t.expose('status', {
      type: ServiceStatus,
      nullable: true,
      description: 'The status that it prepares. Null: the template is for a maintenance.',
    }),
  }),
})

const FilledTemplate = builder.objectRef<Filled>('FilledTemplate').implement({
  description: 'The texts of a template with the placeholders filled in.',
  fields: (t) => ({
    title: t.exposeString('title', { description: 'The title. Empty: none.' }),
    message: t.exposeString('message', {
      description: 'The message, in markdown.',
      extensions: text(MAX_MESSAGE_LENGTH),
    }),
    translations: t.field({
      type: [TemplateTranslation],
      extensions: messagesCost,
      description: 'Both in other languages.',
      resolve: ({ translations }) => [...translations],
    }),
    missing: t.stringList({
      extensions: costs({ items: placeholders.length }),
      description: 'The placeholders that could not be filled in; they are still in the text.',
      resolve: ({ missing }) => [...missing],
    }),
  }),
})

const Template = builder.objectRef<TemplateRow>('Template').implement({
  description: 'Prepared texts for an incident, an update or a maintenance. Visible to the organization only.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    kind: t.expose('kind', { type: TemplateKind, description: 'What it prepares.' }),
    name: t.exposeString('name', { description: 'Its name, which only members see.' }),
    title: t.exposeString('title', { description: 'The title. Empty: none.' }),
    message: t.exposeString('message', {
      description: 'The message, in markdown, with its placeholders.',
      extensions: text(MAX_MESSAGE_LENGTH),
    }),
    translations: t.field({
      type: [TemplateTranslation],
      extensions: messagesCost,
      description: 'Both in other languages.',
      resolve: ({ translations }) => bothIn(translations),
    }),
    status: t.expose('status', {
      type: IncidentStatus,
      nullable: true,
      description: 'The status. Null: it leaves the choice open.',
    }),
    impact: t.expose('impact', {
      type: IncidentImpact,
      nullable: true,
      description: 'The impact. Null: it leaves the choice open.',
    }),
    services: t.field({
      type: [TemplateService],
      extensions: costs({ items: MAX_TEMPLATE_SERVICES }),
      description: 'The services, in page order.',
      resolve: ({ services }) => services,
    }),
    notifySubscribers: t.exposeBoolean('notifySubscribers', { description: 'Whether subscribers are to be notified.' }),
    filled: t.field({
      type: FilledTemplate,
      nullable: true,
      extensions: rows(4),
      description: 'Its texts with the placeholders filled in. Null: the incident or a service does not exist.',
      args: {
        serviceIds: t.arg.idList({
          required: false,
          description: 'The affected services. Default: those of the incident, or of the template.',
        }),
        startedAt: t.arg({
          type: 'DateTime',
          required: false,
          description: 'The start. Default: the incident’s start; for INCIDENT, now.',
        }),
        endsAt: t.arg({ type: 'DateTime', required: false, description: 'The end of a maintenance.' }),
        incidentId: t.arg.id({ required: false, description: 'The incident of an update.' }),
      },
      resolve: async (template, use, ctx) => {
        try {
          return await fillTemplate(ctx, template, {
            ...use,
            serviceIds: use.serviceIds?.slice(0, MAX_SERVICES) ?? null,
          })
        } catch (error) {
          if (error instanceof NotFound) return null
          throw error
        }
      },
    }),
    version: t.exposeInt('version', VERSION),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
})

builder.prismaObjectField('Organization', 'templates', (t) =>
  t.field({
    type: [Template],
    extensions: rows(MAX_TEMPLATES),
    description: 'The templates, by name.',
    args: {
      kind: t.arg({ type: TemplateKind, required: false, description: 'The kind of template. Default: all kinds.' }),
    },
    resolve: ({ id }, { kind }, ctx) => readTemplates(ctx, id, kind ?? undefined),
  }),
)

builder.mutationField('createTemplate', (t) =>
  t.field({
    type: Template,
    description: 'Creates a template. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(newTemplate) }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => createTemplate(ctx, input),
  }),
)

builder.mutationField('updateTemplate', (t) =>
  t.field({
    type: Template,
    description: 'Changes a template. Requires a key with scope WRITE.',
    args: { input: t.arg({ type: describedInput(templateEdit) }) },
    errors: { types: [Invalid, NotFound, Conflict, ManagedByFile] },
    resolve: (_root, { input }, ctx) => updateTemplate(ctx, input),
  }),
)

builder.mutationField('deleteTemplate', (t) =>
  t.field({
    type: deletionPayload('Template'),
    description: 'Deletes a template. Requires a key with scope WRITE.',
    args: { id: t.arg.id() },
    errors: { types: [NotFound, ManagedByFile] },
    resolve: (_root, { id }, ctx) => deleteTemplate(ctx, id),
  }),
)
