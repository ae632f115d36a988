ALTER TABLE `jobs` DROP COLUMN `wait_because`;--> statement-breakpoint
ALTER TABLE `jobs` DROP COLUMN `wait_detail`;--> statement-breakpoint
ALTER TABLE `jobs` DROP COLUMN `wait_since_ms`;--> statement-breakpoint
ALTER TABLE `slots` DROP COLUMN `lease_until_ms`;--> statement-breakpoint
ALTER TABLE `slots` DROP COLUMN `offline_since_ms`;