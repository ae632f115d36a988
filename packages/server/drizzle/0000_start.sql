CREATE TABLE `audit` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at_ms` integer NOT NULL,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`target` text NOT NULL,
	`request_id` text,
	`before` text,
	`after` text
);
--> statement-breakpoint
CREATE TABLE `events` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at_ms` integer NOT NULL,
	`type` text NOT NULL,
	`site_id` text,
	`host_id` text,
	`rollout_id` text,
	`data` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `findings` (
	`id` text PRIMARY KEY NOT NULL,
	`host_id` text NOT NULL,
	`code` text NOT NULL,
	`subject` text NOT NULL,
	`severity` text NOT NULL,
	`layer` text NOT NULL,
	`body` text NOT NULL,
	`first_seen_at_ms` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL,
	`cleared_at_ms` integer,
	`opened_count` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `findings_identity` ON `findings` (`host_id`,`code`,`subject`);--> statement-breakpoint
CREATE INDEX `findings_code` ON `findings` (`code`,`cleared_at_ms`);--> statement-breakpoint
CREATE INDEX `findings_cleared` ON `findings` (`cleared_at_ms`);--> statement-breakpoint
CREATE TABLE `fact_changes` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`host_id` text NOT NULL,
	`at_ms` integer NOT NULL,
	`name` text NOT NULL,
	`changes` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `fact_changes_host` ON `fact_changes` (`host_id`,`seq`);--> statement-breakpoint
CREATE TABLE `host_facts` (
	`host_id` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`body` text NOT NULL,
	`received_at_ms` integer NOT NULL,
	PRIMARY KEY(`host_id`, `name`)
);
--> statement-breakpoint
CREATE TABLE `host_labels` (
	`host_id` text NOT NULL,
	`key` text NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`host_id`, `key`)
);
--> statement-breakpoint
CREATE INDEX `host_labels_key_value` ON `host_labels` (`key`,`value`);--> statement-breakpoint
CREATE TABLE `hosts` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`name` text NOT NULL,
	`status` text NOT NULL,
	`status_reason` text,
	`public_key` text NOT NULL,
	`machine_fingerprint` text NOT NULL,
	`agent_version` text NOT NULL,
	`boot_id` text,
	`capabilities` text NOT NULL,
	`clock_skew_ms` integer,
	`class` text NOT NULL,
	`last_seen_at_ms` integer,
	`session_epoch` integer NOT NULL,
	`enrolled_at_ms` integer NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `hosts_public_key` ON `hosts` (`public_key`);--> statement-breakpoint
CREATE INDEX `hosts_site` ON `hosts` (`site_id`);--> statement-breakpoint
CREATE INDEX `hosts_name` ON `hosts` (`name`);--> statement-breakpoint
CREATE TABLE `attempts` (
	`id` text PRIMARY KEY NOT NULL,
	`job_id` text NOT NULL,
	`host_id` text NOT NULL,
	`state` text NOT NULL,
	`phase` text,
	`progress` text NOT NULL,
	`plan_hash` text,
	`disruption` text,
	`plan_summary` text NOT NULL,
	`worst_case_ms` integer,
	`declined_because` text,
	`signed_grant` text,
	`server_epoch` integer,
	`cancel_requested` text,
	`offered_at_ms` integer NOT NULL,
	`granted_at_ms` integer,
	`expires_at_ms` integer,
	`settled_at_ms` integer,
	`result` text
);
--> statement-breakpoint
CREATE INDEX `attempts_job` ON `attempts` (`job_id`);--> statement-breakpoint
CREATE INDEX `attempts_host_state` ON `attempts` (`host_id`,`state`);--> statement-breakpoint
CREATE INDEX `attempts_state` ON `attempts` (`state`);--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`host_id` text NOT NULL,
	`request` text NOT NULL,
	`state` text NOT NULL,
	`wait_because` text,
	`wait_detail` text,
	`wait_since_ms` integer,
	`rollout_id` text,
	`slot_id` text,
	`position` integer NOT NULL,
	`plan_hash` text,
	`created_by` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`settled_at_ms` integer
);
--> statement-breakpoint
CREATE INDEX `jobs_host` ON `jobs` (`host_id`);--> statement-breakpoint
CREATE INDEX `jobs_state` ON `jobs` (`state`);--> statement-breakpoint
CREATE INDEX `jobs_slot` ON `jobs` (`slot_id`,`position`);--> statement-breakpoint
CREATE TABLE `rollouts` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`state` text NOT NULL,
	`because` text,
	`because_detail` text,
	`spec` text NOT NULL,
	`plan_hash` text,
	`plan` text,
	`created_by` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`started_at_ms` integer,
	`ended_at_ms` integer,
	`expires_at_ms` integer,
	`catch_up_until_ms` integer,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `rollouts_state` ON `rollouts` (`state`);--> statement-breakpoint
CREATE TABLE `slots` (
	`id` text PRIMARY KEY NOT NULL,
	`rollout_id` text NOT NULL,
	`wave_index` integer NOT NULL,
	`position` integer NOT NULL,
	`host_id` text NOT NULL,
	`site_id` text NOT NULL,
	`class_name` text NOT NULL,
	`state` text NOT NULL,
	`because` text,
	`detail` text,
	`since_ms` integer NOT NULL,
	`requests` text NOT NULL,
	`plan_hash` text,
	`disposition` text,
	`lease_until_ms` integer,
	`offline_since_ms` integer,
	`worst_case_ms` integer NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `slots_rollout` ON `slots` (`rollout_id`,`wave_index`);--> statement-breakpoint
CREATE INDEX `slots_host` ON `slots` (`host_id`,`state`);--> statement-breakpoint
CREATE TABLE `waves` (
	`rollout_id` text NOT NULL,
	`index` integer NOT NULL,
	`name` text NOT NULL,
	`state` text NOT NULL,
	`is_canary` integer NOT NULL,
	`opened_at_ms` integer,
	`soak_until_ms` integer,
	`ended_at_ms` integer,
	PRIMARY KEY(`rollout_id`, `index`)
);
--> statement-breakpoint
CREATE TABLE `sites` (
	`id` text PRIMARY KEY NOT NULL,
	`timezone` text NOT NULL,
	`display_name` text,
	`window` text,
	`freezes` text NOT NULL,
	`require_approval` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`version` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `api_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`hash` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer,
	`last_used_at_ms` integer,
	`revoked_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_tokens_hash` ON `api_tokens` (`hash`);--> statement-breakpoint
CREATE TABLE `enrollment_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`site_id` text NOT NULL,
	`hash` text NOT NULL,
	`uses` integer NOT NULL,
	`uses_left` integer NOT NULL,
	`created_by` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`revoked_at_ms` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `enrollment_tokens_hash` ON `enrollment_tokens` (`hash`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`actor` text NOT NULL,
	`key` text NOT NULL,
	`request_hash` text NOT NULL,
	`status` integer NOT NULL,
	`body` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	PRIMARY KEY(`actor`, `key`)
);
--> statement-breakpoint
CREATE TABLE `meta` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
