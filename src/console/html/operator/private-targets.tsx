import {
  isAllowed,
  listPermitted,
  type OwnPermission,
  type PrivateTargets,
  readPrivateTargets,
  setPrivateTargets,
} from '../../../account/private-targets/permission.ts'
import { UtcTime } from '../../../http/page/utc-time.tsx'
import { privateTargetsPath } from '../frame/private-targets.tsx'
import type { OperatorScreen } from './operator-screen.tsx'

/** The maximum number of organizations listed in the settings. */
const MAX_LISTED = 50

/**
 * Allows or withdraws private targets, as a form of `Switch` asks.
 * @param organizationId null: for all organizations.
 */
export async function switchPrivateTargets(
  { ctx }: OperatorScreen,
  fields: URLSearchParams,
  organizationId: string | null,
): Promise<void> {
  await setPrivateTargets(ctx, { organizationId, allowed: fields.get('allowed') === 'true' })
}

/** Renders the permission of an organization, and the button that changes it. */
export function OrganizationPrivateTargets({
  permission,
  action,
}: {
  readonly permission: PrivateTargets
  readonly action: string
}) {
  return (
    <section id="private-targets">
      <h2>Private targets</h2>
      <p>
        {isAllowed(permission)
          ? 'Its monitors, alert channels and webhooks may reach private networks and this machine.'
          : 'Its monitors, alert channels and webhooks may not reach private networks or this machine.'}{' '}
        {ofAll(permission)}
      </p>
      <Switch action={action} isAllowed={permission.forOrganization} whom="for this organization" />
    </section>
  )
}

/** What the settings show about private targets. */
export interface PrivateTargetSettings {
  /** The permission for all organizations. */
  readonly permission: PrivateTargets
  /** The organizations with a permission of their own. */
  readonly permitted: readonly OwnPermission[]
}

/** Reads what the settings show about private targets. */
export async function readPrivateTargetSettings({ ctx }: OperatorScreen): Promise<PrivateTargetSettings> {
  const [permission, permitted] = await Promise.all([readPrivateTargets(ctx, null), listPermitted(ctx, MAX_LISTED)])
  return { permission, permitted }
}

/** Renders the permission for all organizations, the button that changes it, and the organizations with their own. */
export function AllPrivateTargets({
  settings,
  action,
}: {
  readonly settings: PrivateTargetSettings
  readonly action: string
}) {
  const { permission, permitted } = settings
  return (
    <section id="private-targets">
      <h2>Private targets</h2>
      <p>
        {ofAll(permission) ?? 'Not all organizations may reach private networks and this machine.'} Link-local addresses
        and metadata services of clouds are never reached. <a href="/docs/monitors#private-networks">About this</a>
      </p>
      <Switch action={action} isAllowed={permission.forAll} whom="for all" />
      {permitted.length === 0 ? null : (
        <ul class="rows">
          {permitted.map(({ organization: { id, name }, grantedAt }) => (
            <li>
              <a href={privateTargetsPath(id)}>{name}</a>
              <span class="row-facts">
                allowed <UtcTime at={grantedAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** Returns a sentence about a permission for all organizations; null: there is none. */
function ofAll({ forAll, byEnvironment }: PrivateTargets): string | null {
  if (byEnvironment)
    return 'ALLOW_PRIVATE_NETWORKS in the environment allows it for all organizations; only a restart without it ends that.'
  return forAll ? 'All organizations may reach private networks and this machine.' : null
}

function Switch({
  action,
  isAllowed,
  whom,
}: {
  readonly action: string
  readonly isAllowed: boolean
  readonly whom: string
}) {
  return (
    <form method="post" action={action}>
      <input type="hidden" name="allowed" value={String(!isAllowed)} />
      <button type="submit" class="quiet">
        {isAllowed ? `Withdraw private targets ${whom}` : `Allow private targets ${whom}`}
      </button>
    </form>
  )
}
