import { usableKeysOf } from '../../account/api-key/api-key.ts'
import { hasScope, organizationOf } from '../../core/access.ts'
import type { Context } from '../../core/context.ts'
import { Conflict, Invalid, NotFound } from '../../core/errors.ts'
import type { Session, User as UserRow } from '../../generated/prisma/client.ts'
import { Role } from '../../generated/prisma/enums.ts'
import { costs, STATEMENT_COST } from '../../graphql/document/cost.ts'
import { readTogether } from '../../graphql/execution/loader.ts'
import { describedValues } from '../../graphql/schema/descriptions.ts'
import { INVITATION_PATH, invitationsOf, invite, revokeInvitation } from '../invitation.ts'
import type { Member as MemberRow } from '../membership.ts'
import { addOwner, MAX_PEOPLE, membersOf, removeMember, setRole } from '../membership.ts'
import { roleDescriptions } from '../role.ts'
import { MAX_SESSIONS, requireUser, revokeSession, sessionsOf } from '../session.ts'
import { createResetLink } from '../sign-in/password-reset.ts'
import { findPerson } from '../user.ts'
import { builder } from './builder.ts'

builder.enumType(Role, {
  name: 'Role',
  description:
    'What a person may do in an organization. VIEWER, EDITOR and ADMIN correspond to the scopes READ, WRITE and ADMIN of API keys.',
  values: describedValues(roleDescriptions),
})

type Person = Pick<UserRow, 'id' | 'name' | 'email' | 'emailProvenAt'>

const User = builder.objectRef<Person>('User').implement({
  description: 'A person.',
  fields: (t) => ({
    id: t.exposeID('id'),
    name: t.exposeString('name', { description: 'The person’s name.' }),
    email: t.exposeString('email', { description: 'The email address of the account.' }),
    emailProvenAt: t.expose('emailProvenAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the person proved the address, by email or a provider. Null: never; someone else may have the account, such as whoever opened the link of an invitation first.',
    }),
  }),
})

/** The number that the field’s cost assumes. Few people create more keys, and any number costs one statement. */
const USUAL_KEYS = 3

const Member = builder.objectRef<MemberRow>('Member').implement({
  description: 'A member of an organization.',
  fields: (t) => ({
    user: t.expose('user', { type: User, description: 'The person.' }),
    role: t.expose('role', { type: Role, description: 'What the person may do.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the person became a member.' }),
    apiKeys: t.prismaField({
      type: ['ApiKey'],
      description:
        'The keys that the person created, directly or by one of these keys, and that work, newest first, at most 100. They outlive the membership: revoke those that the person should not keep. Requires scope ADMIN.',
      authScopes: ({ organizationId }, _args, { actor }) => hasScope(actor, organizationId, 'ADMIN'),
      extensions: costs({ itself: STATEMENT_COST, items: USUAL_KEYS }),
      resolve: (query, { organizationId, user }, _args, ctx) =>
        ctx.db.apiKey.findMany({ ...query, ...usableKeysOf(ctx, organizationId, user.id) }),
    }),
  }),
})

builder.prismaObjectField('ApiKey', 'createdBy', (t) =>
  t.field({
    type: User,
    nullable: true,
    description: 'The person who created it, or who created the key that created it. Null: the operator’s token did.',
    select: { createdBy: { select: { id: true, name: true, email: true, emailProvenAt: true } } },
    resolve: ({ createdBy }) => createdBy,
  }),
)

const Invitation = builder.prismaObject('Invitation', {
  description: 'A pending invitation for one email address.',
  fields: (t) => ({
    id: t.exposeID('id'),
    email: t.exposeString('email', { description: 'The invited address.' }),
    role: t.expose('role', { type: Role, description: 'The role that the person will have.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When its link expires.' }),
  }),
})

const ViewerSession = builder.objectRef<Session & { readonly isCurrent: boolean }>('Session').implement({
  description: 'A browser in which the caller is signed in.',
  fields: (t) => ({
    id: t.exposeID('id'),
    userAgent: t.exposeString('userAgent', { description: 'The browser’s User-Agent header.' }),
    isCurrent: t.exposeBoolean('isCurrent', { description: 'Whether it sent this request.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the person signed in.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'When it was last used, to the hour.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends if it is not used again.' }),
  }),
})

/** The number that the field’s cost assumes. Few people have more organizations, and any number costs one statement. */
const USUAL_ORGANIZATIONS = 20

interface Belonging {
  readonly organizationId: string
  readonly role: Role
}

const ViewerMembership = builder.objectRef<Belonging>('ViewerMembership').implement({
  description: 'An organization of the caller.',
  fields: (t) => ({
    role: t.expose('role', { type: Role, description: 'What the caller may do there.' }),
    organization: t.prismaField({
      type: 'Organization',
      description: 'The organization.',
      resolve: (query, { organizationId: id }, _args, ctx) =>
        readTogether(ctx, () => ctx.db.organization.findUniqueOrThrow({ ...query, where: { id } })),
    }),
  }),
})

const Viewer = builder.objectRef<Person>('Viewer').implement({
  description: 'The signed-in caller.',
  fields: (t) => ({
    user: t.field({ type: User, description: 'The person.', resolve: (user) => user }),
    memberships: t.field({
      type: [ViewerMembership],
      description: 'The caller’s organizations.',
      extensions: costs({ items: USUAL_ORGANIZATIONS }),
      resolve: (_user, _args, ctx) =>
        Array.from(requireUser(ctx).memberships, ([organizationId, { role }]) => ({ organizationId, role })),
    }),
    sessions: t.field({
      type: [ViewerSession],
      description: 'The browsers in which the caller is signed in, most recently used first.',
      extensions: costs({ itself: STATEMENT_COST, items: MAX_SESSIONS }),
      resolve: async (_user, _args, ctx) => {
        const { sessionId } = requireUser(ctx)
        return (await sessionsOf(ctx)).map((session) => ({ ...session, isCurrent: session.id === sessionId }))
      },
    }),
  }),
})

builder.queryField('viewer', (t) =>
  t.field({
    type: Viewer,
    nullable: true,
    description: 'The signed-in caller. Null for callers with a key, and for visitors.',
    extensions: costs({ itself: STATEMENT_COST, about: () => 'own' }),
    resolve: (_root, _args, ctx) => (ctx.actor.kind === 'user' ? findPerson(ctx, ctx.actor.userId) : null),
  }),
)

builder.prismaObjectFields('Organization', (t) => ({
  members: t.field({
    type: [Member],
    description: 'The members, in the order in which they joined.',
    extensions: costs({ itself: STATEMENT_COST, items: MAX_PEOPLE }),
    resolve: ({ id }, _args, ctx) => membersOf(inOrganization(ctx, id)),
  }),
  invitations: t.field({
    type: [Invitation],
    description: 'The pending invitations, newest first. Requires a signed-in owner or the operator.',
    extensions: costs({ itself: STATEMENT_COST, items: MAX_PEOPLE }),
    resolve: ({ id }, _args, ctx) => invitationsOf(inOrganization(ctx, id)),
  }),
}))

/** Returns the context of a caller acting in one of the organizations that the caller can read. */
function inOrganization<C extends Context>(ctx: C, organizationId: string): C {
  const { actor } = ctx
  const mayChoose = actor.kind === 'operator' || actor.kind === 'user'
  if (!mayChoose || organizationOf(actor) === organizationId || !hasScope(actor, organizationId, 'READ')) return ctx
  return { ...ctx, actor: { ...actor, organizationId } }
}

const ORGANIZATION_ID = {
  required: false,
  description: 'The organization. Required only for the operator and for people with several organizations.',
} as const

const InviteInput = builder.inputType('InviteInput', {
  description: 'The person to invite.',
  fields: (t) => ({
    organizationId: t.id(ORGANIZATION_ID),
    email: t.string({ description: 'The email address. Only an account with it can accept.' }),
    role: t.field({ type: Role, description: 'The role that the person will have.' }),
  }),
})

const InvitePayload = builder.objectRef<Awaited<ReturnType<typeof invite>>>('InvitePayload').implement({
  description: 'The invitation and its link.',
  fields: (t) => ({
    invitation: t.field({ type: Invitation, description: 'The invitation.', resolve: ({ invitation }) => invitation }),
    url: t.string({
      description:
        'The link, which is shown only here. It works once, within seven days. It proves nothing about the address: whoever opens it first has the account.',
      resolve: ({ token }, _args, { site }) => `${site.baseUrl}${INVITATION_PATH}/${token}`,
    }),
    isMailed: t.exposeBoolean('isMailed', {
      description: 'Whether another link is on its way to the address. Only that one proves the address.',
    }),
  }),
})

builder.mutationField('invite', (t) =>
  t.field({
    type: InvitePayload,
    description:
      'Creates a link that invites a person, and emails another one if email is set up. A new invitation for the same address replaces the previous one. Requires a signed-in owner or the operator.',
    args: { input: t.arg({ type: InviteInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => invite(ctx, input),
  }),
)

const RevokeInvitationInput = builder.inputType('RevokeInvitationInput', {
  description: 'The invitation to revoke.',
  fields: (t) => ({ organizationId: t.id(ORGANIZATION_ID), id: t.id({ description: 'The invitation’s id.' }) }),
})

builder.mutationField('revokeInvitation', (t) =>
  t.field({
    type: Invitation,
    description: 'Revokes a pending invitation. Requires a signed-in owner or the operator.',
    args: { input: t.arg({ type: RevokeInvitationInput }) },
    errors: { types: [NotFound] },
    resolve: (_root, { input: { id } }, ctx) => revokeInvitation(ctx, id),
  }),
)

const SetRoleInput = builder.inputType('SetRoleInput', {
  description: 'A member and their new role.',
  fields: (t) => ({
    organizationId: t.id(ORGANIZATION_ID),
    userId: t.id({ description: 'The member.' }),
    role: t.field({ type: Role, description: 'The new role.' }),
    previousRole: t.field({
      type: Role,
      required: false,
      description: 'The role that you last read. If it has changed since, nothing is saved and you get CONFLICT.',
    }),
  }),
})

builder.mutationField('setRole', (t) =>
  t.field({
    type: Member,
    description:
      'Changes a member’s role. Revokes the invitations of a member who is no longer an owner. Keys that the member created go on working, see `Member.apiKeys`. An organization must have an owner. Requires a signed-in owner or the operator.',
    args: { input: t.arg({ type: SetRoleInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input }, ctx) => setRole(ctx, input),
  }),
)

const AddOwnerInput = builder.inputType('AddOwnerInput', {
  description: 'The new owner of an organization.',
  fields: (t) => ({
    organizationId: t.id({ description: 'The organization.' }),
    email: t.string({ description: 'The email address of a person who has an account.' }),
    allowUnproven: t.boolean({
      required: false,
      description: 'Whether the address may be unproven, because you know who has the account. Default: false.',
    }),
  }),
})

builder.mutationField('addOwner', (t) =>
  t.field({
    type: Member,
    description:
      'Makes a person an owner of an organization that has no owner left. The address of the account must be proven, unless you allow otherwise. Operator only.',
    args: { input: t.arg({ type: AddOwnerInput }) },
    errors: { types: [Invalid, NotFound, Conflict] },
    resolve: (_root, { input: { email, allowUnproven } }, ctx) =>
      addOwner(ctx, email, { allowUnproven: allowUnproven ?? false }),
  }),
)

const CreatePasswordResetLinkInput = builder.inputType('CreatePasswordResetLinkInput', {
  description: 'A person who needs a new password and cannot receive email.',
  fields: (t) => ({ userId: t.id({ description: 'The person.' }) }),
})

const CreatePasswordResetLinkPayload = builder.objectRef<string>('CreatePasswordResetLinkPayload').implement({
  description: 'A link with which the person sets a new password. Whoever opens it has the account.',
  fields: (t) => ({
    url: t.string({
      description: 'The link, which is shown only here. It works once, within a day.',
      resolve: (path, _args, { site }) => `${site.baseUrl}${path}`,
    }),
  }),
})

builder.mutationField('createPasswordResetLink', (t) =>
  t.field({
    type: CreatePasswordResetLinkPayload,
    description: 'Creates a link with which a person sets a new password. Operator only.',
    args: { input: t.arg({ type: CreatePasswordResetLinkInput }) },
    errors: { types: [NotFound] },
    resolve: (_root, { input: { userId } }, ctx) => createResetLink(ctx, userId),
  }),
)

const RemoveMemberInput = builder.inputType('RemoveMemberInput', {
  description: 'The member to remove.',
  fields: (t) => ({ organizationId: t.id(ORGANIZATION_ID), userId: t.id({ description: 'The member.' }) }),
})

builder.mutationField('removeMember', (t) =>
  t.field({
    type: Member,
    description:
      'Removes a member and the invitations that they made immediately. Keys that the member created go on working, see `Member.apiKeys` in the answer. Members can remove themselves; only a signed-in owner or the operator can remove others.',
    args: { input: t.arg({ type: RemoveMemberInput }) },
    errors: { types: [NotFound, Conflict] },
    resolve: (_root, { input: { userId } }, ctx) => removeMember(ctx, userId),
  }),
)

const RevokeSessionPayload = builder.objectRef<{ readonly id: string }>('RevokeSessionPayload').implement({
  description: 'The session that has ended.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'Its id.' }) }),
})

const RevokeSessionInput = builder.inputType('RevokeSessionInput', {
  description: 'The session to end.',
  fields: (t) => ({ id: t.id({ description: 'The session’s id.' }) }),
})

builder.mutationField('revokeSession', (t) =>
  t.field({
    type: RevokeSessionPayload,
    description: 'Signs the caller out of a browser immediately.',
    args: { input: t.arg({ type: RevokeSessionInput }) },
    errors: { types: [NotFound] },
    resolve: async (_root, { input: { id } }, ctx) => {
      await revokeSession(ctx, id)
      return { id }
    },
  }),
)
