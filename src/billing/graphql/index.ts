// Registers the GraphQL types and operations of billing.
import './context.ts'
import './tier.ts'
import './check-plan.ts'
import './overview.ts'
import './payment.ts'
