"""One machine, no scheduler, no modules: where a site's own settings are not given."""
site_configuration = {
    "systems": [{
        "name": "here",
        "hostnames": [".*"],
        "partitions": [{
            "name": "cpu",
            "scheduler": "local",
            "launcher": "local",
            "environs": ["here"],
            "max_jobs": 1,
        }],
    }],
    "environments": [{"name": "here", "cc": "", "cxx": "", "ftn": ""}],
}
