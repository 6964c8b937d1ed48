.PHONY: dev
PYTHON ?= python3
dev: ## build the extension in place
	cargo build --release -p uncertain-python
	cp target/release/lib_uncertain.so python/uncertain/_uncertain.abi3.so
