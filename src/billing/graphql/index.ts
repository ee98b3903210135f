// Registers the GraphQL types and operations of billing.
import './tier.ts'
import './check-plan.ts'
import './overview.ts'
import './payment.ts'
