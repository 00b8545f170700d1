broker_url = "redis://broker:6379/0"
task_acks_late = True
task_time_limit = 300
broker_transport_options = {"visibility_timeout": 3600}
worker_concurrency = 8
